// Events about a quota: one event for each change, none for healthy quotas, and the same facts in
// the daemon's metrics and log.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::events_test {
namespace {

using Texts = std::vector<std::string>;

// Events about the quota, oldest first.
std::vector<json::Value> Events(Scenario& s, const std::string& quota) {
  const auto answer =
      s.api()
          .Do({.path = s.Path("events"),
               .query = {{"fieldSelector",
                          "involvedObject.kind=ResourceQuota,involvedObject.name=" + quota}}})
          .value();
  auto list = Json(answer.body);
  auto events = *list.Make({"items"}).AsArray();
  std::sort(events.begin(), events.end(), [](const json::Value& a, const json::Value& b) {
    return a.StringAt({"metadata", "name"}) < b.StringAt({"metadata", "name"});
  });
  return events;
}

// "Warning QuotaStale 1": type, reason and count of each.
Texts Said(Scenario& s, const std::string& quota) {
  Texts said;
  for (const auto& event : Events(s, quota)) {
    said.push_back(std::string(event.StringAt({"type"})) + " " +
                   std::string(event.StringAt({"reason"})) + " " +
                   json::Write(*event.At({"count"})));
  }
  return said;
}

std::string Joined(const Texts& texts) {
  std::string joined;
  for (const auto& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined.empty() ? "nothing" : joined;
}

void WaitSaid(Scenario& s, const std::string& quota, const Texts& expected,
              std::chrono::milliseconds timeout = Stretched(60s)) {
  Eventually(
      "of quota " + quota + " is said: " + Joined(expected),
      [&]() -> std::string {
        const auto said = Said(s, quota);
        return said == expected ? "" : Joined(said);
      },
      timeout);
}

// Checks that no event is added.
void StaysSaid(Scenario& s, const std::string& quota, const Texts& expected,
               std::chrono::milliseconds period) {
  Always(
      "of quota " + quota + " is said: " + Joined(expected),
      [&]() -> std::string {
        const auto said = Said(s, quota);
        return said == expected ? "" : Joined(said);
      },
      period);
}

int Lines(const std::string& log, const std::string& text) {
  int lines = 0;
  for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++lines;
  return lines;
}

// Makes Secrets impossible to list, in the way of each tier.
class WithoutSecrets {
 public:
  explicit WithoutSecrets(Scenario& s) : s_(s) {
    if (CurrentTier() == Tier::kSandbox) {
      Inject(s_, R"({"fault":"answer","resource":"secrets","verb":"list","code":403,"times":-1})");
      return;
    }
    Grant(R"({"apiGroups":[""],"resources":["resourcequotas","pods"],
              "verbs":["get","list","watch"]},
             {"apiGroups":[""],"resources":["resourcequotas/status"],"verbs":["patch"]},
             {"apiGroups":[""],"resources":["events"],"verbs":["create","patch"]})",
          "some");
  }

  // The kubeconfig of the restricted user.
  std::string Kubeconfig() {
    if (CurrentTier() == Tier::kSandbox) return s_.server().Kubeconfig();
    auto fields = s_.server().Fields();
    const auto pair = s_.server().ClientCertificate("/CN=" + user_);
    fields.token.clear();
    fields.extra_user_lines =
        "    client-certificate: " + pair.cert_path + "\n    client-key: " + pair.key_path + "\n";
    return dir_.Write("kubeconfig", KubeconfigText(fields));
  }
  void Allow() {
    if (CurrentTier() == Tier::kSandbox) {
      ClearFaults(s_);
    } else {
      Grant(R"({"apiGroups":[""],"resources":["secrets"],"verbs":["list","watch"]})", "secrets");
    }
  }

 private:
  void Grant(const std::string& rules, const std::string& what) {
    const auto name = user_ + "-" + what;
    auto role = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
        "rules":[)" + rules +
                     "]}");
    role.Make({"metadata", "name"}) = name;
    s_.api().Create(PathOf("clusterroles"), role);
    auto binding = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRoleBinding","roleRef":{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"ClusterRole"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User"}]})");
    binding.Make({"metadata", "name"}) = name;
    binding.Make({"roleRef", "name"}) = name;
    (*binding.Make({"subjects"}).AsArray())[0].Make({"name"}) = user_;
    s_.api().Create(PathOf("clusterrolebindings"), binding);
  }

  Scenario& s_;
  std::string user_ = FreshName("counter");
  TempDir dir_;
};

const Texts kStale{"Warning QuotaStale 1"};
const Texts kStaleAndHealed{"Warning QuotaStale 1", "Normal QuotaHealed 1"};

}  // namespace

TEST_CASE("events report a kind that may not be listed, then that it is counted", "[e2e][events]") {
  Scenario s;
  WithoutSecrets world(s);
  s.Create("secrets", Secret("x"));
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {"secrets", "9"}}));
  s.Create("resourcequotas", Quota("other", {{"pods", "9"}}));
  auto& daemon = s.StartDaemon("5m", world.Kubeconfig());
  Eventually("pods are limited and counted, and Secrets are not in force", [&]() -> std::string {
    const json::Value quota = s.GetQuota("q");
    const bool only_pods =
        ToQuantities(quota.At({"status", "hard"})) == Quantities{{"pods", "9"}} &&
        ToQuantities(quota.At({"status", "used"})) == Quantities{{"pods", "0"}};
    return only_pods ? "" : json::Write(quota);
  });
  WaitSaid(s, "q", kStale);
  const auto event = Events(s, "q")[0];
  INFO(json::Write(event));
  CHECK(event.StringAt({"involvedObject", "apiVersion"}) == "v1");
  CHECK(event.StringAt({"involvedObject", "uid"}) == s.GetQuota("q").StringAt({"metadata", "uid"}));
  CHECK(event.StringAt({"reportingComponent"}) == "quota-controller-manager");
  CHECK_FALSE(event.StringAt({"reportingInstance"}).empty());
  CHECK(event.StringAt({"firstTimestamp"}) == event.StringAt({"lastTimestamp"}));
  const std::string message(event.StringAt({"message"}));
  CHECK(message.find("secrets is not in force until counted for the first time") == 0);
  CHECK(message.find("403") != std::string::npos);
  CHECK(message.find("rbac.countSecrets=true") != std::string::npos);

  // The metrics say the same, and since when. Quotas of scenarios beside this one may name
  // Secrets, too.
  CHECK(daemon.Metric("quota_stale_quotas").value_or(0) >= 1);
  const auto metrics = daemon.MetricsText();
  INFO(metrics);
  CHECK(
      metrics.find(R"(quota_stale_quotas{quota_api="core",reason="stale",resource="secrets"} )") !=
      std::string::npos);
  const std::string synced = R"(quota_tracked_synced{quota_api="core",resource="secrets"})";
  CHECK(metrics.find(synced + " 0") != std::string::npos);
  const std::string age = R"(quota_tracked_age_seconds{quota_api="core",resource="secrets"})";
  const auto age_then = daemon.Metric(age);
  REQUIRE(age_then);
  StaysSaid(s, "q", kStale, 3s);
  CHECK(daemon.Metric(age).value_or(0) >= *age_then + 2);

  world.Allow();
  s.WaitUsed("q", {{"pods", "0"}, {"secrets", "1"}}, Stretched(60s));
  WaitSaid(s, "q", kStaleAndHealed);
  CHECK(daemon.Metric("quota_stale_quotas").value_or(0) == 0);
  CHECK(daemon.MetricsText().find(synced + " 1") != std::string::npos);
  CHECK(Said(s, "other").empty());
  const auto log = daemon.Log();
  CHECK(Lines(log, "cannot follow resource=secrets.v1") == 1);
  CHECK(Lines(log, "following again resource=secrets.v1") == 1);
  CHECK(daemon.Metric(R"(event_recorder_events_total{result="created"})").value_or(0) >= 2);
}

TEST_CASE("events report a kind without its conversion webhook as stale, then as healed",
          "[e2e][events][real-only][slow]") {
  Scenario s;
  const CustomKind broken("things");
  s.api().Create(PathOf("customresourcedefinitions"), broken.Definition());
  CreateCustom(s, broken, "one");
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {broken.CountName(), "9"}}));
  s.Create("resourcequotas", Quota("other", {{"pods", "9"}}));
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}, {broken.CountName(), "1"}});
  s.StopDaemon();
  BreakConversion(s, broken);
  auto& second = s.StartDaemon();
  (void)daemon;
  WaitSaid(s, "q", kStale);
  const std::string message(Events(s, "q")[0].StringAt({"message"}));
  CHECK(message.find(broken.CountName() + " is stale") == 0);
  StaysSaid(s, "q", kStale, 20s);
  CHECK(ToText(s.Used("q")) == ToText({{"pods", "0"}, {broken.CountName(), "1"}}));

  MendConversion(s, broken);
  WaitSaid(s, "q", kStaleAndHealed);
  StaysSaid(s, "q", kStaleAndHealed, 3s);
  CHECK(Said(s, "other").empty());
  INFO(second.Log());
  // One line for each error code of the server (429, 500), and one at the end.
  CHECK(Lines(second.Log(), "cannot follow resource=things.") <= 2);
  CHECK(Lines(second.Log(), "following again resource=things.") == 1);
  s.api().Delete(PathOf("customresourcedefinitions", "", broken.Crd()));
}

TEST_CASE("a limit below the usage is reported once, even over restarts", "[e2e][events]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {"secrets", "9"}}));
  for (const auto* name : {"a", "b", "c"}) s.Create("pods", Pod(name));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "3"}, {"secrets", "0"}});
  s.api().MergePatch(s.Path("resourcequotas", "q"), HardPatch({{"pods", "2"}}));
  const Texts exceeded{"Warning QuotaExceeded 1"};
  WaitSaid(s, "q", exceeded, Patience());
  CHECK(Events(s, "q")[0].StringAt({"message"}) ==
        "the limit lies below what is used, nothing more can be created: pods: used 3, hard 2");
  s.StopDaemon();
  s.StartDaemon("1s");
  s.Delete("pods", "a");
  s.WaitUsed("q", {{"pods", "2"}, {"secrets", "0"}});
  StaysSaid(s, "q", exceeded, 3s);
}

TEST_CASE("events report names that cannot be counted now, and names that never can",
          "[e2e][events][slow]") {
  Scenario s;
  const CustomKind things("things");
  s.Create("resourcequotas", Quota("typo", {{"pods", "9"}, {"example.com/gpu", "2"}}));
  s.Create("resourcequotas", Quota("early", {{"pods", "9"}, {things.CountName(), "2"}}));
  s.StartDaemon();
  WaitSaid(s, "typo", {"Warning UnknownResourceName 1"}, Patience());
  WaitSaid(s, "early", {"Warning ResourceNotServed 1"});
  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  WaitSaid(s, "early", {"Warning ResourceNotServed 1", "Normal QuotaHealed 1"});
  s.WaitUsed("early", {{"pods", "0"}, {things.CountName(), "0"}});
  CHECK(Said(s, "typo") == Texts{"Warning UnknownResourceName 1"});
  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
}

TEST_CASE("an outage of the server causes no event on a quota", "[e2e][events][real-only][slow]") {
  const auto server = StartServer();
  Scenario s(*server);
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {"secrets", "9"}, {"services", "9"}}));
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}, {"secrets", "0"}, {"services", "0"}});
  server->Kill();
  daemon.WaitForLog("cannot follow resource=pods.v1");
  Always(
      "the daemon runs", [&] { return daemon.Running() ? "" : "it ended"; }, 8s);
  server->Start();
  daemon.WaitForLog("following again resource=pods.v1");
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}, {"secrets", "0"}, {"services", "0"}});
  StaysSaid(s, "q", {}, 20s);
}

TEST_CASE("a server that forbids events does not stop counting", "[e2e][events][sandbox-only]") {
  Scenario s;
  Inject(s, R"({"fault":"answer","resource":"events","verb":"create","code":403,"times":-1})");
  for (const auto* name : {"a", "b", "c"}) {
    s.Create("resourcequotas", Quota(name, {{"pods", "9"}, {"example.com/gpu", "2"}}));
  }
  auto& daemon = s.StartDaemon();
  daemon.WaitForLog("the server refused an event");
  Eventually("three events are refused", [&]() -> std::string {
    const auto refused = daemon.Metric(R"(event_recorder_events_total{result="refused"})");
    return refused == 3 ? "" : std::to_string(refused.value_or(-1));
  });
  CHECK(Lines(daemon.Log(), "the server refused an event") == 1);
  s.Create("pods", Pod("p"));
  for (const auto* name : {"a", "b", "c"}) s.WaitUsed(name, {{"pods", "1"}});
  CHECK(daemon.Stop() == 0);
}

}  // namespace e2e::events_test
