#pragma once

// The API server of a scenario: the sandbox, or a real etcd and kube-apiserver, as selected by
// QCM_E2E_SERVER ("sandbox", the default, or "real", which finds its programs in
// KUBEBUILDER_ASSETS). Scenarios run on both tiers; they ask here for what differs.

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
  // Real tier: also kube-controller-manager, if its program is there, with its controllers of
  // quotas, namespaces and garbage. Only for a shared server.
  bool controllers = false;
  // Real tier: the file of --admission-control-config-file; "": none. Not for a shared server.
  std::string admission_config{};
  // Real tier: --runtime-config, the served versions; "": the default. Not for a shared server.
  std::string runtime_config{};
  // Real tier: --feature-gates; "": the default. Not for a shared server.
  std::string feature_gates{};
  // Real tier: the file of --audit-log-path, for events of level Metadata; "": none. Not for a
  // shared server.
  std::string audit_log{};
  // Real tier: --enable-aggregator-routing: the server calls the endpoints of a webhook's Service.
  // Not for a shared server.
  bool aggregator_routing = false;
  // Real tier: the folder of kube-apiserver, for another version; "": KUBEBUILDER_ASSETS. Not for a
  // shared server.
  std::string assets{};
};

struct KubeconfigFields {
  std::string server;              // "https://127.0.0.1:6443"
  std::string ca_path;             // "" for a plain server
  std::string token;               // "": none
  std::string extra_user_lines{};  // further lines of the user entry, indented by four blanks
};
std::string KubeconfigText(const KubeconfigFields& fields);

class ApiServer {
 public:
  virtual ~ApiServer() = default;
  // Starts a stopped server on the same port as before.
  virtual void Start() = 0;
  // kill -9. Stored objects survive on the real tier and are lost on the sandbox.
  virtual void Kill() = 0;
  [[nodiscard]] virtual bool keeps_objects() const = 0;
  // Real tier: the same for etcd, whose data stays. After StartStore() the server is ready again.
  virtual void KillStore() = 0;
  virtual void StartStore() = 0;
  // Real tier: ends the server (SIGTERM, as a kubelet does) and starts it with other options.
  virtual void Restart(const ServerOptions& options) = 0;
  // Real tier: one more server over the same etcd; this one must live longer.
  virtual std::unique_ptr<ApiServer> StartBeside(const ServerOptions& options) = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // An administrator's kubeconfig for a server behind `port` (0: the server's own).
  virtual std::string Kubeconfig(std::uint16_t port = 0) = 0;
  // The fields of that kubeconfig, for tests that change one of them.
  virtual KubeconfigFields Fields() = 0;
  // A client certificate that the server trusts, e.g. for "/O=system:masters/CN=admin".
  virtual KeyPair ClientCertificate(const std::string& subject) = 0;
  [[nodiscard]] virtual std::string LogTail() const = 0;
  [[nodiscard]] virtual int pid() const = 0;
};

// Starts a server and returns when /readyz answers 200.
std::unique_ptr<ApiServer> StartServer(const ServerOptions& options = {});

// The servers that scenarios share: started at first use, kept until the program ends.
ApiServer& SharedServer(const ServerOptions& options = {});
bool IsShared(const ApiServer& server);

// Real tier only: kube-controller-manager with one controller ("resourcequota-controller",
// "namespace-controller"). Throws if the program is missing. A scenario that has no other way
// without it has the tag [controller-manager], and does not run on other versions of Kubernetes.
std::unique_ptr<Process> StartBuiltinController(const std::string& controller,
                                                const std::string& kubeconfig,
                                                const std::string& log_path,
                                                const std::vector<std::string>& more_flags = {});
bool HaveBuiltinController();

}  // namespace e2e
