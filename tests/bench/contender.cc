#include "tests/bench/contender.h"

#include <stdexcept>

#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/files.h"

namespace bench {

std::string NameOf(Contender contender) {
  switch (contender) {
    case Contender::kDaemon:
      return "quota-controller-manager";
    case Contender::kDaemonOfJson:
      return "the same daemon, reading JSON";
    case Contender::kBuiltin:
      break;
  }
  return "kube-controller-manager";
}

std::unique_ptr<e2e::Process> Start(Contender contender, const std::string& kubeconfig,
                                    const std::string& folder) {
  const auto log = folder + "/controller.log";
  if (contender != Contender::kBuiltin) {
    std::vector<std::string> argv{e2e::BuiltProgram("quota-controller-manager"),
                                  "--kubeconfig=" + kubeconfig, "--leader-elect=false",
                                  "--metrics-bind-address=", "--health-probe-bind-address="};
    if (contender == Contender::kDaemonOfJson) {
      argv.emplace_back("--kube-api-content-type=application/json");
    }
    return std::make_unique<e2e::Process>(
        e2e::ProcessOptions{.argv = std::move(argv), .log_path = log});
  }
  return e2e::StartBuiltinController("resourcequota-controller", kubeconfig, log);
}

}  // namespace bench
