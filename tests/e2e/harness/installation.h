#pragma once

// A real API server of its own, with manifests/ applied by kubectl, as an admin does. There is no
// kubelet: the test starts the daemon with the arguments and the ServiceAccount of the Deployment.
// Real servers only.

#include <memory>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/source_dir.h"

namespace e2e {

inline constexpr const char* kQuotaSystem = "quota-system";

// The role for counting Secrets, which no folder installs.
inline const std::string kCountSecrets =
    tests::SourcePath("/manifests/components/count-secrets/count-secrets.yaml");

// The policy that warns of deletions, which no folder installs: it needs Kubernetes 1.30.
inline const std::string kDeletionWarning =
    tests::SourcePath("/manifests/components/deletion-warning/deletion-warning.yaml");

class Installation {
 public:
  // Adds small definitions of the kinds that a plain server lacks.
  explicit Installation(const ServerOptions& options = {});

  [[nodiscard]] Api& api() { return *api_; }
  [[nodiscard]] ApiServer& server() { return *server_; }

  // Runs `kubectl ARGUMENTS…` and returns its standard output and errors; throws if it fails.
  std::string Kubectl(std::vector<std::string> arguments);
  // Applies a folder of manifests/ ("base"); throws if an object is refused or causes a warning.
  void Apply(const std::string& folder);
  // The options of the Deployment's pod: its ServiceAccount, arguments and namespace. `more_flags`
  // come last and win.
  DaemonOptions AsDeployed(const std::string& folder, std::vector<std::string> more_flags = {});
  // The same for a folder that enforces, with a URL, because no Service routes anywhere here.
  DaemonOptions Enforcing(const std::string& folder, std::vector<std::string> more_flags = {});
  std::string KubeconfigOfDaemon() { return KubeconfigOf("quota-controller-manager"); }
  // Returns the kubeconfig of another ServiceAccount in quota-system.
  std::string KubeconfigOf(const std::string& account);

 private:
  TempDir dir_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Api> api_;
};

// The kubectl of KUBEBUILDER_ASSETS.
std::string KubectlProgram();
// All folders below manifests/ for `kubectl apply -k`, such as "base".
std::vector<std::string> ManifestFolders();
// The objects of such a folder, as kubectl renders them.
std::vector<json::Value> RenderManifests(const std::string& folder);
// The arguments of the daemon in the Deployment of a folder.
std::vector<std::string> DeployedArguments(const std::string& folder);

}  // namespace e2e
