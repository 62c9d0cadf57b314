#pragma once

// A real API server of its own, and manifests/ applied to it by kubectl, as an admin does. No
// kubelet is there: the daemon is started by hand, with the arguments and the ServiceAccount of the
// Deployment. Real servers only.

#include <memory>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"

namespace e2e {

inline constexpr const char* kQuotaSystem = "quota-system";

class Installation {
 public:
  // With small definitions of the kinds that a bare server lacks.
  Installation();

  [[nodiscard]] Api& api() { return *api_; }
  [[nodiscard]] ApiServer& server() { return *server_; }

  // `kubectl ARGUMENTS…`; throws when it fails. Standard output and errors.
  std::string Kubectl(std::vector<std::string> arguments);
  // Applies a folder of manifests/ ("base"); throws where an object is refused or warned about.
  void Apply(const std::string& folder);
  // What the pod would be: the ServiceAccount, the Deployment's arguments and the pod's namespace.
  // `more_flags` come last, and win.
  DaemonOptions AsDeployed(const std::string& folder, std::vector<std::string> more_flags = {});
  // The same of a folder that enforces, at a URL, since no Service leads anywhere here.
  DaemonOptions Enforcing(const std::string& folder, std::vector<std::string> more_flags = {});
  std::string KubeconfigOfDaemon();

 private:
  TempDir dir_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Api> api_;
};

// Each folder below manifests/ that `kubectl apply -k` takes, as "base".
std::vector<std::string> ManifestFolders();
// The objects of such a folder, as kubectl makes them of it.
std::vector<json::Value> RenderManifests(const std::string& folder);
// What the Deployment of a folder says to the daemon.
std::vector<std::string> DeployedArguments(const std::string& folder);

}  // namespace e2e
