#include "tests/bench/contender.h"

#include <stdexcept>

#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/files.h"

namespace bench {

std::string NameOf(Contender contender) {
  return contender == Contender::kDaemon ? "quota-controller-manager" : "kube-controller-manager";
}

std::unique_ptr<e2e::Process> Start(Contender contender, const std::string& kubeconfig,
                                    const std::string& folder) {
  const auto log = folder + "/" + NameOf(contender) + ".log";
  if (contender == Contender::kDaemon) {
    return std::make_unique<e2e::Process>(e2e::ProcessOptions{
        .argv = {e2e::BuiltProgram("quota-controller-manager"), "--kubeconfig=" + kubeconfig,
                 "--leader-elect=false", "--metrics-bind-address=", "--health-probe-bind-address="},
        .log_path = log});
  }
  auto process = e2e::StartBuiltinController("resourcequota-controller", kubeconfig, log);
  if (!process) throw std::runtime_error("no kube-controller-manager to compare with");
  return process;
}

}  // namespace bench
