// What people see: kubectl against both tiers, with the daemon's status.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/scenario.h"

namespace e2e {
namespace {

// The kubectl that fits the server, else the one on PATH.
std::string Kubectl() {
  const char* assets = std::getenv("KUBEBUILDER_ASSETS");
  if (assets != nullptr && *assets != '\0') return std::string(assets) + "/kubectl";
  return FindProgram("kubectl");
}

class KubectlUser {
 public:
  explicit KubectlUser(Scenario& scenario) : scenario_(scenario) {}
  std::string operator()(std::vector<std::string> arguments) {
    std::vector<std::string> argv{Kubectl(), "--kubeconfig=" + scenario_.server().Kubeconfig(),
                                  "--cache-dir=" + dir_.path(), "--namespace=" + scenario_.ns()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto result = RunProgram({.argv = argv}, Patience());
    INFO(result.output);
    CHECK(result.exit_code == 0);
    return result.output;
  }
  std::string File(const std::string& text) { return dir_.Write("manifest.yaml", text); }

 private:
  Scenario& scenario_;
  TempDir dir_;
};

}  // namespace

TEST_CASE("kubectl create, describe, get, apply and delete tell the same story", "[e2e][kubectl]") {
  if (Kubectl().empty()) {
    WARN("no kubectl here: not looked at");
    return;
  }
  Scenario s;
  KubectlUser kubectl(s);
  s.StartDaemon();
  kubectl({"create", "quota", "compute", "--hard=pods=10,requests.cpu=2,requests.memory=4Gi"});
  s.Create("pods", Pod("a", {{"cpu", "100m"}, {"memory", "512Mi"}}));
  s.Create("pods", Pod("b", {{"cpu", "500m"}, {"memory", "1Gi"}}));
  s.WaitUsed("compute", {{"pods", "2"}, {"requests.cpu", "600m"}, {"requests.memory", "1536Mi"}});

  CHECK(kubectl({"describe", "quota", "compute"}) ==
        "Name:            compute\n"
        "Namespace:       " +
            s.ns() +
            "\n"
            "Resource         Used    Hard\n"
            "--------         ----    ----\n"
            "pods             2       10\n"
            "requests.cpu     600m    2\n"
            "requests.memory  1536Mi  4Gi\n");
  CHECK(kubectl({"get", "quota", "compute"})
            .find("pods: 2/10, requests.cpu: 600m/2, requests.memory: 1536Mi/4Gi") !=
        std::string::npos);

  const auto file = kubectl.File(
      "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: applied\nspec:\n  hard:\n    pods: "
      "\"3\"\n");
  kubectl({"apply", "-f", file});
  s.WaitUsed("applied", {{"pods", "2"}});
  kubectl({"delete", "pod", "a", "--grace-period=0", "--force"});
  s.WaitUsed("applied", {{"pods", "1"}});
  // A second apply must find its own annotation, which no status write may have wiped.
  CHECK(kubectl({"apply", "-f", file}).find("unchanged") != std::string::npos);
  kubectl({"delete", "quota", "applied"});
  CHECK_FALSE(s.api().Exists(s.Path("resourcequotas", "applied")));
}

TEST_CASE("kubectl events shows what is said of a quota", "[e2e][kubectl][events]") {
  if (Kubectl().empty()) {
    WARN("no kubectl here: not looked at");
    return;
  }
  Scenario s;
  KubectlUser kubectl(s);
  s.StartDaemon();
  kubectl({"create", "quota", "typo", "--hard=pods=10,example.com/gpu=2"});
  const std::string said = "UnknownResourceName";
  Eventually("the event is there", [&]() -> std::string {
    const auto events = kubectl({"events", "--for=resourcequota/typo"});
    return events.find(said) != std::string::npos ? "" : events;
  });
  const auto events =
      kubectl({"get", "events", "--field-selector=involvedObject.name=typo,type=Warning"});
  INFO(events);
  CHECK(events.find(said + "   resourcequota/typo   nothing is counted under example.com/gpu") !=
        std::string::npos);
  CHECK(kubectl({"events", "--for=resourcequota/other"}).find(said) == std::string::npos);
}

}  // namespace e2e
