// A ClusterQuota that nobody enforces is not ready, and says so.
#include <catch2/catch.hpp>

#include <functional>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::cluster_not_enforced_test {
namespace {

constexpr const char* kOff = "False NotEnforced: nothing is refused: ";

struct World {
  explicit World(const std::string& kubeconfig = "")
      : a{{.server = Managed(), .kubeconfig = kubeconfig, .more_flags = {"--enforce=cluster"}}} {
    quotas.Create(name, SelectTeam(name, R"("hard":{"pods":"0"})"));
    quotas.WaitUsed(name, {{"pods", "0"}});
    quotas.WaitCondition(name, "Ready", "True Counted");
    CHECK_FALSE(ns.Try("one", true).ok());
  }
  void WaitForEvent(const std::string& reason) {
    Eventually("the quota has an Event " + reason,
               [&]() -> std::string { return IsSaid(a.api(), name, reason) ? "" : "none"; });
  }

  Admission a;
  ClusterQuotas quotas{a.api()};
  std::string name = FreshName("team");
  TeamNamespace ns{a.api(), name};
};

// Replaces the stored webhook configuration. A ban concerns the daemon's patches.
void Edit(Api& api, const std::function<void(json::Value& webhook)>& edit) {
  json::Value stored = api.Get(ConfigurationPath());
  for (json::Value& webhook : *stored.Make({"webhooks"}).AsArray()) edit(webhook);
  (void)api.Do({.verb = "PUT",
                .path = ConfigurationPath(),
                .content_type = std::string(client::kJson),
                .body = json::Write(stored)});
}

struct Loss {
  std::string name;
  std::function<void(Api& api)> cause;
};
std::vector<Loss> Losses() {
  using Webhook = json::Value;
  const auto edit = [](std::string name, const std::function<void(Webhook&)>& change) {
    return Loss{std::move(name), [change](Api& api) { Edit(api, change); }};
  };
  std::vector<Loss> losses{
      {"deleted", [](Api& api) { api.Delete(ConfigurationPath()); }},
      {"emptied",
       [](Api& api) {
         json::Value stored = api.Get(ConfigurationPath());
         stored.Make({"webhooks"}) = json::Array();
         (void)api.Do({.verb = "PUT",
                       .path = ConfigurationPath(),
                       .content_type = std::string(client::kJson),
                       .body = json::Write(stored)});
       }},
      edit("creations dropped",
           [](Webhook& webhook) {
             webhook.Make({"rules"}).AsArray()->front().Make({"operations"}) =
                 json::Array{"DELETE"};
           }),
      edit("called elsewhere, and not needed", [](Webhook& webhook) {
        webhook.Make({"failurePolicy"}) = "Ignore";
        webhook.Make({"clientConfig", "url"}) = "https://127.0.0.1:1/validate/cluster";
      })};
  if (CurrentTier() == Tier::kSandbox) return losses;  // it knows neither versions nor conditions
  losses.push_back(edit("another version", [](Webhook& webhook) {
    webhook.Make({"rules"}).AsArray()->front().Make({"apiVersions"}) = json::Array{"v9"};
  }));
  losses.push_back(edit("never asked", [](Webhook& webhook) {
    webhook.Make({"matchConditions"}) =
        json::Array{json::Object{{"name", "never"}, {"expression", "false"}}};
  }));
  return losses;
}

}  // namespace

TEST_CASE("cluster: quotas are not ready while rules are lost that may not be restored",
          "[e2e][cluster][admission]") {
  WriteBan ban(SharedServer(Managed()), "validatingwebhookconfigurations");
  World w(ban.kubeconfig());
  for (const Loss& loss : Losses()) {
    INFO(loss.name);
    ban.Forbid(w.a.scenario());
    // Until the server knows of the ban, the daemon repairs it.
    Eventually("pods pass", [&]() -> std::string {
      loss.cause(w.a.api());
      const Attempt attempt = w.ns.Try("one", true);
      return attempt.ok() ? "" : attempt.Text();
    });
    w.quotas.WaitCondition(
        w.name, "Ready",
        "False NotEnforced: the API server does not ask about pods: its webhook configuration "
        "lacks the rules");
    w.WaitForEvent("NotEnforced");
    ban.Allow(w.a.scenario());
    w.quotas.WaitCondition(w.name, "Ready", "True Counted");
    Eventually("pods are refused",
               [&]() -> std::string { return w.ns.Try("one", true).ok() ? "admitted" : ""; });
  }
  w.WaitForEvent("QuotaHealed");
}

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
