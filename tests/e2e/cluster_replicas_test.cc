// Several replicas decide at the limit of ClusterQuotas, while the labels of the namespaces change.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/fleet.h"

namespace e2e::cluster_replicas_test {
namespace {

constexpr std::size_t kLimit = 30;
constexpr int kRounds = 12;
constexpr int kCreationsEach = 15;
constexpr std::size_t kParallel = 24;

// Namespaces that move between two teams, and clients that create and delete pods in them.
class Teams {
 public:
  explicit Teams(Api& api) : api_(api) {
    for (std::size_t i = 0; i < 3; ++i) namespaces_.emplace_back(api_, team(i));
  }

  [[nodiscard]] const std::string& team(std::size_t i) const { return teams_[i % 2]; }
  // Moves each namespace while pods are created in all of them and half of the others are deleted.
  // Returns the outcomes of the creations.
  std::vector<Attempt> Round() {
    std::vector<client::ApiRequest> requests;
    for (TeamNamespace& ns : namespaces_) {
      const json::Value alive = api_.Get(ns.Pods());
      int odd = 0;
      for (const json::Value& pod : *alive.At({"items"})->AsArray()) {
        if (++odd % 2 == 0) continue;
        requests.push_back({.verb = "DELETE",
                            .path = PathOf("pods", ns.name(), pod.StringAt({"metadata", "name"})),
                            .query = {{"gracePeriodSeconds", "0"}},
                            .timeout = Stretched(60s)});
      }
      for (int i = 0; i < kCreationsEach; ++i) {
        requests.push_back(PostOf(ns.Pods(), Pod("p" + std::to_string(next_++))));
      }
      const std::string& to = teams_[random_() % 2];
      requests.push_back(PatchOf(PathOf("namespaces", "", ns.name()),
                                 R"({"metadata":{"labels":{"team":")" + to + R"("}}})"));
    }
    std::shuffle(requests.begin(), requests.end(), random_);
    std::vector<bool> creates;
    creates.reserve(requests.size());
    for (const auto& request : requests) creates.push_back(request.verb == "POST");
    const auto answers = api_.DoAll(std::move(requests), kParallel);
    std::vector<Attempt> attempts;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (creates[i]) attempts.push_back(ToAttempt(answers[i]));
    }
    return attempts;
  }
  std::size_t CountPods() {
    std::size_t pods = 0;
    for (TeamNamespace& ns : namespaces_) pods += ns.CountPods();
    return pods;
  }
  // Moves all namespaces to the first team.
  void Unite() {
    for (TeamNamespace& ns : namespaces_) ns.Relabel(teams_[0]);
  }

 private:
  Api& api_;
  const std::vector<std::string> teams_{FreshName("a"), FreshName("b")};
  std::deque<TeamNamespace> namespaces_;
  std::mt19937_64 random_{7};
  int next_ = 0;
};

void Race(int replicas) {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  Teams teams(s.api());
  const std::string company = FreshName("company");
  quotas.Create(company, R"({"hard":{"pods":")" + std::to_string(kLimit) + R"("}})");
  for (std::size_t i = 0; i < 2; ++i) {
    quotas.Create(teams.team(i), SelectTeam(teams.team(i), R"("hard":{"pods":"25"},"parent":")" +
                                                               company + R"(")"));
  }
  Fleet fleet(s);
  fleet.AddFlags({"--enforce=cluster"});
  std::vector<Daemon*> daemons;
  daemons.reserve(static_cast<std::size_t>(replicas));
  for (int i = 0; i < replicas; ++i) daemons.push_back(&fleet.Add());
  for (const std::string& quota : {company, teams.team(0), teams.team(1)}) {
    quotas.WaitUsed(quota, {{"pods", "0"}});
  }
  const HeadCount heads(s.server().Kubeconfig(), PathOf("pods"),
                        std::string(quotas.Get(company).StringAt({"metadata", "resourceVersion"})));
  int created = 0;
  int refused = 0;
  const auto reused = [&] { return created > static_cast<int>(kLimit); };
  const auto play = [&] {
    for (const Attempt& attempt : teams.Round()) {
      const bool exceeded = attempt.code == 403 &&
                            attempt.message.find("exceeded cluster quota") != std::string::npos;
      if (!attempt.ok() && !exceeded) FAIL_CHECK(attempt.Text());
      ++(attempt.ok() ? created : refused);
    }
    return reused();
  };
  for (int round = 0; round < kRounds; ++round) play();
  // A watch that lags frees nothing, and neither does a quota that has just lost a namespace. So on
  // a busy machine usage is freed only if the rounds pause.
  if (!reused()) PollUntil(play, Stretched(30s), 1500ms);
  const std::size_t left = teams.CountPods();
  heads.WaitFor(left);
  CHECK(heads.most() <= kLimit);
  CHECK(heads.most() >= kLimit / 2);
  CHECK(reused());
  CHECK(refused > 0);
  for (const Daemon* daemon : daemons) {
    CHECK(daemon->Metric("quota_admission_decisions_total").value_or(0) > 20);
  }
  teams.Unite();
  const auto wait_used = [&](const std::string& quota, std::size_t pods) {
    Eventually(
        quota + " uses " + std::to_string(pods) + " pods",
        [&]() -> std::string {
          const json::Value stored = quotas.Get(quota);
          const auto used = stored.StringAt({"status", "used", "pods"});
          return used == std::to_string(pods) ? "" : json::Write(stored);
        },
        AfterAHold());
  };
  wait_used(company, left);
  wait_used(teams.team(0), left);
  wait_used(teams.team(1), 0);
}

}  // namespace

TEST_CASE("cluster: two replicas hold the limit while namespaces are relabelled",
          "[e2e][cluster][admission][load][real-only]") {
  Race(2);
}

TEST_CASE("cluster: three replicas hold the limit while namespaces are relabelled",
          "[e2e][cluster][admission][load][real-only]") {
  Race(3);
}

}  // namespace e2e::cluster_replicas_test
