// The answers of ClusterQuotas to requests, and the effect of each mode on requests that do not
// fit.
#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>
#include <thread>

#include "tests/e2e/harness/cluster_quotas.h"

namespace e2e::cluster_modes_test {
namespace {

using Catch::Matchers::EndsWith;
using Texts = std::vector<std::string>;

const AdmissionOptions kEnforced{.server = Managed(), .more_flags = {"--enforce=cluster"}};

// A ClusterQuota, and a namespace that it selects.
struct Team {
  Team(Api& api, ClusterQuotas& quotas, const std::string& more)
      : name(FreshName("team")), ns(api, name) {
    quotas.Create(name, SelectTeam(name, more));
    quotas.WaitUsed(name, {{"pods", "0"}});
  }
  std::string name;
  TeamNamespace ns;
};

std::string Exceeded(const std::string& quota, int used, int limit) {
  return "exceeded cluster quota: " + quota +
         ", requested: pods=1, used: pods=" + std::to_string(used) +
         ", limited: pods=" + std::to_string(limit);
}

// Sixteen clients that create pods until Stop().
class Clients {
 public:
  Clients(const std::string& kubeconfig, std::string path)
      : api_(kubeconfig), path_(std::move(path)), thread_([this] { Run(); }) {}
  ~Clients() { Stop(); }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<int> admitted{0};
  std::atomic<int> refused{0};
  std::atomic<int> warned{0};
  std::atomic<int> others{0};

 private:
  void Run() {
    for (int next = 0; !stop_;) {
      std::vector<client::ApiRequest> requests;
      for (int i = 0; i < 32; ++i, ++next) {
        requests.push_back(PostOf(path_, Pod("p" + std::to_string(next))));
      }
      for (const auto& answer : api_.DoAll(std::move(requests), 16)) Count(ToAttempt(answer));
    }
  }
  void Count(const Attempt& attempt) {
    const bool no = attempt.message.find("exceeded cluster quota") != std::string::npos;
    ++(attempt.ok() ? admitted : attempt.code == 403 && no ? refused : others);
    if (!attempt.warnings.empty()) ++warned;
  }

  Api api_;
  std::string path_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("cluster: a refusal names the quota, its place in the tree, and guarantees to others",
          "[e2e][cluster][admission]") {
  Admission a(kEnforced);
  ClusterQuotas quotas(a.api());
  const std::string company = FreshName("company");
  quotas.Create(company, R"({"hard":{"pods":"4"}})");
  const std::string below = R"("hard":{"pods":"3"},"parent":")" + company + R"(")";
  Team mine(a.api(), quotas, below);
  Team other(a.api(), quotas, below + R"(,"guaranteed":{"pods":"2"})");
  quotas.WaitUsed(company, {{"pods", "0"}});
  const auto text = [&](Team& team) { return team.ns.Try("last").message; };
  const std::string forbidden = "pods \"last\" is forbidden: ";
  mine.ns.Create("one");
  mine.ns.Create("two");
  CHECK_THAT(text(mine),
             EndsWith(forbidden + Exceeded(company + " (above " + mine.name + ")", 2, 4) +
                      ", guaranteed to others: pods=2"));
  other.ns.Create("one");
  other.ns.Create("two");
  CHECK_THAT(text(other),
             EndsWith(forbidden + Exceeded(company + " (above " + other.name + ")", 4, 4)));
  a.api().MergePatch(ClusterQuotas::Path(mine.name), HardPatch({{"pods", "2"}}));
  quotas.WaitUsed(mine.name, {{"pods", "2"}});
  CHECK_THAT(text(mine), EndsWith(forbidden + Exceeded(mine.name, 2, 2)));
}

TEST_CASE("cluster: a quota that selects by another label refuses there",
          "[e2e][cluster][admission]") {
  Admission a(kEnforced);
  ClusterQuotas quotas(a.api());
  Team team(a.api(), quotas, R"("hard":{"pods":"0"})");
  // By this label no quota selects yet, so the API server asks nobody about the namespace.
  const std::string tier = FreshName("tier");
  const std::string label = "{\"" + tier + "\":\"gold\"}";
  a.api().MergePatch(PathOf("namespaces", "", a.scenario().ns()),
                     Json(R"({"metadata":{"labels":)" + label + "}}"));
  const auto pod = [&] { return a.Post("pods", Pod("p"), true); };
  CHECK(pod().ok());
  a.api().MergePatch(ClusterQuotas::Path(team.name), Json(R"({"spec":{"namespaceSelector":
      {"matchLabels":{"team":null,")" + tier + R"(":"gold"}}}})"));
  Eventually("the namespace with the other label is limited", [&] {
    const Attempt attempt = pod();
    const bool refused = attempt.message.find(Exceeded(team.name, 0, 0)) != std::string::npos;
    return refused ? std::string() : attempt.Text();
  });
  CHECK(team.ns.Try("p").ok());
}

TEST_CASE("cluster: Warn admits with a warning, an Event and a metric",
          "[e2e][cluster][admission]") {
  Admission a(kEnforced);
  ClusterQuotas quotas(a.api());
  Team team(a.api(), quotas, R"("hard":{"pods":"1"},"enforcement":"Warn")");
  CHECK(team.ns.Try("one").warnings.empty());
  const Attempt second = team.ns.Try("two");
  CHECK(second.ok());
  CHECK(second.warnings == Texts{"would be refused: " + Exceeded(team.name, 1, 1)});
  Eventually("the quota has a WouldBeRefusedByQuota Event", [&]() -> std::string {
    return IsSaid(a.api(), team.name, "WouldBeRefusedByQuota") ? "" : "none";
  });
  quotas.WaitUsed(team.name, {{"pods", "2"}});
  quotas.WaitCondition(team.name, "OverLimit",
                       "True LimitBelowUsage: more is used than the limit allows, what exceeds it "
                       "is admitted with a warning: pods");
  CHECK(a.Metric("quota_admission_would_refuse_total") == 1);
  CHECK_THAT(a.daemon().MetricsText(),
             Catch::Contains("quota_enforcement_mode{mode=\"Warn\",namespace=\"\",quota=\"" +
                             team.name + "\",quota_api=\"cluster\"} 1"));
}

TEST_CASE("cluster: Audit admits with an annotation in the audit log, and a metric",
          "[e2e][cluster][admission][real-only]") {
  TempDir dir;
  const std::string log = dir.path() + "/audit.log";
  const auto server = StartServer({.quota_plugin = true, .audit_log = log});
  Admission a(*server, kEnforced);
  ClusterQuotas quotas(a.api());
  Team team(a.api(), quotas, R"("hard":{"pods":"0"},"enforcement":"Audit")");
  const Attempt attempt = team.ns.Try("one");
  CHECK(attempt.ok());
  CHECK(attempt.warnings.empty());
  Eventually("the audit log has the annotations", [&]() -> std::string {
    std::istringstream lines(ReadFile(log));
    for (std::string line; std::getline(lines, line);) {
      const auto event = json::Parse(line);
      const json::Value* annotations = event ? event->At({"annotations"}) : nullptr;
      if (annotations == nullptr) continue;
      const std::string text = json::Write(*annotations);
      const std::string domain = "cluster.quota-controller-manager.io/";
      const bool named =
          text.find(domain + "would-be-refused-by-quota\":\"" + team.name) != std::string::npos;
      if (named && text.find(domain + "would-exceed\":\"pods\"") != std::string::npos) return "";
    }
    return "not yet";
  });
  CHECK(a.Metric("quota_admission_would_refuse_total") == 1);
  CHECK(a.daemon().Stop() == 0);  // no Event can follow
  CHECK_FALSE(IsSaid(a.api(), team.name, "WouldBeRefusedByQuota"));
}

TEST_CASE("cluster: a dry run is decided, and reserves nothing", "[e2e][cluster][admission]") {
  Admission a(kEnforced);
  ClusterQuotas quotas(a.api());
  Team team(a.api(), quotas, R"("hard":{"pods":"1"})");
  for (int i = 0; i < 3; ++i) {
    const Attempt dry = team.ns.Try("one", true);
    INFO(dry.Text());
    CHECK(dry.ok());
  }
  const json::Value unwritten = quotas.Get(team.name);
  CHECK(unwritten.StringAt({"status", "used", "pods"}) == "0");
  CHECK(unwritten.StringAt({"status", "reservations"}).find("objects") == std::string::npos);
  CHECK(team.ns.Try("one").ok());
  const Attempt full = team.ns.Try("two", true);
  CHECK(full.code == 403);
  CHECK_THAT(full.message, EndsWith(Exceeded(team.name, 1, 1)));
  a.api().MergePatch(ClusterQuotas::Path(team.name), Json(R"({"spec":{"enforcement":"Warn"}})"));
  quotas.WaitStatus(team.name, Json(R"({"observedGeneration":2})"));
  const Attempt warned = team.ns.Try("two", true);
  CHECK(warned.ok());
  CHECK(warned.warnings == Texts{"would be refused: " + Exceeded(team.name, 1, 1)});
  quotas.WaitUsed(team.name, {{"pods", "1"}});
}

TEST_CASE("cluster: changes of mode under load take effect, and every admitted pod is counted",
          "[e2e][cluster][admission][load]") {
  constexpr int kLimit = 20;
  Admission a(kEnforced);
  ClusterQuotas quotas(a.api());
  Team team(a.api(), quotas, R"("hard":{"pods":")" + std::to_string(kLimit) + R"("})");
  Clients clients(a.scenario().server().Kubeconfig(), team.ns.Pods());
  // Returns once the daemon has observed the new mode.
  const auto set_mode = [&](const std::string& mode) {
    const json::Value patched =
        a.api().MergePatch(ClusterQuotas::Path(team.name),
                           json::Object{{"spec", json::Object{{"enforcement", mode}}}});
    quotas.WaitStatus(
        team.name, json::Object{{"observedGeneration", *patched.At({"metadata", "generation"})}});
  };
  const auto wait_more = [](const char* what, const std::atomic<int>& count, int more) {
    Eventually(
        what,
        [&count, until = count + more]() -> std::string {
          return count >= until ? "" : std::to_string(count) + " so far";
        },
        Stretched(60s));
  };
  const auto used = [&] {
    return std::stoi(std::string(quotas.Get(team.name).StringAt({"status", "used", "pods"})));
  };
  wait_more("the limit refuses pods", clients.refused, 64);
  CHECK(clients.admitted == kLimit);
  CHECK(used() == kLimit);
  for (int round = 0; round < 2; ++round) {
    set_mode("Warn");
    wait_more("more pods are admitted, with a warning", clients.warned, 40);
    set_mode("Audit");
    wait_more("more pods are admitted", clients.admitted, 40);
    set_mode("Deny");
    const int at_once = used();
    wait_more("pods are refused again", clients.refused, 64);
    CHECK(used() <= at_once);
  }
  clients.Stop();
  CHECK(clients.others == 0);
  const auto pods = static_cast<int>(team.ns.CountPods());
  CHECK(clients.admitted == pods);
  quotas.WaitUsed(team.name, {{"pods", std::to_string(pods)}});
  CHECK(a.Metric("quota_admission_would_refuse_total") == pods - kLimit);
  // With all pods deleted, new pods are admitted up to the limit and not beyond.
  a.api().Delete(team.ns.Pods());
  quotas.WaitUsed(team.name, {{"pods", "0"}});
  Clients again(a.scenario().server().Kubeconfig(), team.ns.Pods());
  wait_more("the limit refuses pods", again.refused, 64);
  again.Stop();
  CHECK(again.admitted == kLimit);
  CHECK(team.ns.CountPods() == kLimit);
}

}  // namespace e2e::cluster_modes_test
