// A ClusterQuota that nobody enforces is not ready, and says so.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::cluster_not_enforced_test {
namespace {

constexpr const char* kOff = "False NotEnforced: nothing is refused: ";

struct World {
  World() {
    quotas.Create(name, SelectTeam(name, R"("hard":{"pods":"0"})"));
    quotas.WaitUsed(name, {{"pods", "0"}});
    quotas.WaitCondition(name, "Ready", "True Counted");
    CHECK_FALSE(ns.Try("one", true).ok());
  }
  void WaitForEvent(const std::string& reason) {
    Eventually("the quota has an Event " + reason,
               [&]() -> std::string { return IsSaid(a.api(), name, reason) ? "" : "none"; });
  }

  Admission a{{.server = Managed(), .more_flags = {"--enforce=cluster"}}};
  ClusterQuotas quotas{a.api()};
  std::string name = FreshName("team");
  TeamNamespace ns{a.api(), name};
};

}  // namespace

TEST_CASE("cluster: quotas are not ready while the glass is broken",
          "[e2e][cluster][admission][uninstall]") {
  World w;
  w.a.api().MergePatch(
      ConfigurationPath(),
      Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":"true"}}})"));
  w.quotas.WaitCondition(w.name, "Ready", std::string(kOff) + "all requests pass because of");
  w.WaitForEvent("NotEnforced");
  CHECK(w.ns.Try("one", true).ok());
  CHECK_THAT(w.a.daemon().MetricsText(),
             Catch::Contains(R"(quota_condition{condition="Ready",namespace="",quota=")" + w.name +
                             R"(",quota_api="cluster",reason="NotEnforced"} 1)"));
  const std::string later = FreshName("later");
  w.quotas.Create(later, SelectTeam(later, R"("hard":{"pods":"1"})"));
  w.quotas.WaitCondition(later, "Ready", kOff);
  w.a.api().MergePatch(
      ConfigurationPath(),
      Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":null}}})"));
  w.quotas.WaitCondition(w.name, "Ready", "True Counted");
  w.quotas.WaitCondition(later, "Ready", "True SelectsNothing");
  w.WaitForEvent("QuotaHealed");
  Eventually("pods are refused", [&]() -> std::string {
    const Attempt attempt = w.ns.Try("one", true);
    return attempt.ok() ? "admitted" : "";
  });
}

TEST_CASE("cluster: quotas are not ready after enforcement was turned off, until that is accepted",
          "[e2e][cluster][admission][uninstall]") {
  World w;
  w.a.daemon().Restart({.kubeconfig = w.a.scenario().server().Kubeconfig()});
  w.quotas.WaitCondition(w.name, "Ready", std::string(kOff) + "enforcement was turned off");
  w.WaitForEvent("NotEnforced");
  CHECK(w.ns.Try("one", true).ok());
  w.a.api().Delete(ConfigurationPath());
  w.quotas.WaitCondition(w.name, "Ready", "True Counted: everything that is limited is counted; ");
}

}  // namespace e2e::cluster_not_enforced_test
