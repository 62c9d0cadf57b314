// A ClusterQuota is not charged for what a ResourceQuota refuses, also if only the API server's own
// plugin enforces ResourceQuotas.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::cluster_advice_test {
namespace {

// `words`, as the webhook of ClusterQuotas says them.
Denial DeniedByCluster(std::string words) {
  return {.quota_api = "cluster", .words = std::move(words)};
}

}  // namespace

TEST_CASE("cluster: a namespace whose ResourceQuota is full takes nothing from its neighbours",
          "[e2e][cluster][admission]") {
  Admission a({.server = Managed(), .more_flags = {"--enforce=cluster"}});
  ClusterQuotas quotas(a.api());
  const std::string name = FreshName("team");
  TeamNamespace full(a.api(), name);
  TeamNamespace sibling(a.api(), name);
  quotas.Create(name, SelectTeam(name, R"("hard":{"pods":"14"})"));
  quotas.WaitUsed(name, {{"pods", "0"}});
  quotas.WaitCondition(name, "Ready", "True Counted");
  a.api().Create(PathOf("resourcequotas", full.name()), Quota("none", {{"pods", "0"}}));
  const auto refusal = [](const std::string& pod) {
    return DeniedByCluster("pods \"" + pod +
                           "\" is forbidden: exceeded quota: none, requested: pods=1, used: "
                           "pods=0, limited: pods=0");
  };
  Eventually("the daemon refuses for the ResourceQuota", [&]() -> std::string {
    const Attempt attempt = full.Try("first", true);
    return attempt.message == refusal("first") ? "" : attempt.Text();
  });
  for (int i = 0; i < 14; ++i) {
    const std::string pod = "p-" + std::to_string(i);
    const Attempt attempt = full.Try(pod);
    CHECK(attempt.code == 403);
    CHECK(attempt.reason == "Forbidden");
    CHECK(attempt.message == refusal(pod));
    CHECK(quotas.Get(name).StringAt({"status", "used", "pods"}) == "0");
  }
  for (int i = 0; i < 14; ++i) CHECK(sibling.Try("p-" + std::to_string(i)).ok());
  quotas.WaitUsed(name, {{"pods", "14"}});
  CHECK(full.CountPods() == 0);
}

}  // namespace e2e::cluster_advice_test
