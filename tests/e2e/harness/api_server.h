#pragma once

// The API server a scenario runs against: the sandbox, or a real etcd and kube-apiserver, as
// QCM_E2E_SERVER says ("sandbox", the default, or "real"; the latter finds its programs in
// KUBEBUILDER_ASSETS). Scenarios are written once; what they need of a tier they ask here.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"

namespace e2e {

enum class Tier { kSandbox, kReal };
Tier CurrentTier();

struct ServerOptions {
  // Real tier: the built-in admission plugin that charges quotas (the sandbox has none).
  bool quota_plugin = false;
  // Real tier: the file of --admission-control-config-file; "": none. Never of a shared server.
  std::string admission_config{};
  // Real tier: --runtime-config, which versions are served; "": as by default. Never of a shared
  // server.
  std::string runtime_config{};
};

struct KubeconfigFields {
  std::string server;              // "https://127.0.0.1:6443"
  std::string ca_path;             // "" for a plain server
  std::string token;               // "" without one
  std::string extra_user_lines{};  // more of the user entry, indented by four blanks
};
std::string KubeconfigText(const KubeconfigFields& fields);

class ApiServer {
 public:
  virtual ~ApiServer() = default;
  // Starts a server that is not running, on the same port as before.
  virtual void Start() = 0;
  // kill -9. What was stored survives on the real tier and is lost on the sandbox.
  virtual void Kill() = 0;
  [[nodiscard]] virtual bool keeps_objects() const = 0;
  // Real tier: the same of etcd, whose data stays. The server is ready again when StartStore()
  // returns.
  virtual void KillStore() = 0;
  virtual void StartStore() = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // An administrator's kubeconfig for a server behind `port` (0: the server's own).
  virtual std::string Kubeconfig(std::uint16_t port = 0) = 0;
  // The fields it is made of, for tests that bend one of them.
  virtual KubeconfigFields Fields() = 0;
  // For a user whom the server trusts by certificate, e.g. "/O=system:masters/CN=admin".
  virtual KeyPair ClientCertificate(const std::string& subject) = 0;
  [[nodiscard]] virtual std::string LogTail() const = 0;
  [[nodiscard]] virtual int pid() const = 0;
};

// Starts one and returns when it answers /readyz.
std::unique_ptr<ApiServer> StartServer(const ServerOptions& options = {});

// The servers that scenarios share: started at the first use, kept until the program ends.
ApiServer& SharedServer(const ServerOptions& options = {});
bool IsShared(const ApiServer& server);

// Real tier only: kube-controller-manager with one controller ("resourcequota-controller",
// "namespace-controller"); nullptr where the program is not there.
std::unique_ptr<Process> StartBuiltinController(const std::string& controller,
                                                const std::string& kubeconfig,
                                                const std::string& log_path,
                                                const std::vector<std::string>& more_flags = {});
bool HaveBuiltinController();

}  // namespace e2e
