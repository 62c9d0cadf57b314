// Replicas that are started and stopped under load: by a rolling update, and by death.
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/fleet.h"

namespace e2e::rollout_test {
namespace {

// Creates pods from its own thread until it is stopped, at most 250 a second, and keeps failures.
class PodMaker {
 public:
  explicit PodMaker(Scenario& s, std::size_t parallel = 16)
      : kubeconfig_(s.server().Kubeconfig()),
        path_(s.Path("pods")),
        parallel_(parallel),
        thread_([this] { Run(); }) {}
  ~PodMaker() { Stop(); }

  [[nodiscard]] int made() const { return made_; }
  // Returns after the last answer.
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // "0 failed", or how many and how.
  [[nodiscard]] std::string Trouble() const {
    const std::lock_guard lock(mutex_);
    std::string text = std::to_string(failures_.size());
    text.append(" failed");
    if (!failures_.empty()) text.append(", the last: ").append(failures_.back());
    return text;
  }

 private:
  void Run() {
    Api api(kubeconfig_);
    for (int next = 0; !stop_;) {
      const auto next_batch = std::chrono::steady_clock::now() + 800ms;
      std::vector<client::ApiRequest> requests;
      requests.reserve(200);
      for (int i = 0; i < 200; ++i) {
        requests.push_back(PostOf(path_, Pod("made-" + std::to_string(next++), {{"cpu", "1"}})));
      }
      for (const auto& answer : api.DoAll(std::move(requests), parallel_)) {
        if (answer) {
          ++made_;
          continue;
        }
        const std::lock_guard lock(mutex_);
        failures_.push_back(ToAttempt(answer).Text());
      }
      std::this_thread::sleep_until(next_batch);
    }
  }

  const std::string kubeconfig_;
  const std::string path_;
  const std::size_t parallel_;
  std::atomic<bool> stop_{false};
  std::atomic<int> made_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> failures_;  // guarded by mutex_
  std::thread thread_;                 // last: it uses the others
};

// Creates and deletes pods at the limit, on its own thread.
class Press {
 public:
  Press(Scenario& s, int rounds) : crowd_(s), thread_([this, rounds] { Run(rounds); }) {}
  ~Press() { Join(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] int rounds() const { return rounds_; }
  // Valid after Join().
  [[nodiscard]] int created() const { return created_; }
  [[nodiscard]] int refused() const { return refused_; }
  // A request fails if the replica that should answer it dies. Returns the last such failure as the
  // client saw it.
  [[nodiscard]] const std::string& last_failure() const { return last_failure_; }
  [[nodiscard]] std::size_t Left() { return crowd_.Names().size(); }

 private:
  void Run(int rounds) {
    for (int round = 0; round < rounds; ++round, ++rounds_) {
      for (const Attempt& attempt : crowd_.Round(80, 32)) {
        if (attempt.ok()) ++created_;
        if (attempt.exceeded()) ++refused_;
        if (!attempt.ok() && !attempt.exceeded()) last_failure_ = attempt.Text();
      }
    }
  }

  Crowd crowd_;
  std::atomic<int> rounds_{0};
  int created_ = 0;
  int refused_ = 0;
  std::string last_failure_;
  std::thread thread_;
};

void Limit(Scenario& s, const std::string& quota, const Quantities& hard) {
  s.Create("resourcequotas", Quota(quota, hard));
  Eventually("quota " + quota + " is enforced",
             [&] { return Unenforced(s.GetQuota(quota), hard); });
}

}  // namespace

TEST_CASE("no request fails while two replicas are replaced three times under load",
          "[e2e][rollout][load][real-only][slow]") {
  constexpr int kPods = 10'000;
  const auto server = StartServer();  // ten thousand pods stay on it
  Scenario s(*server);
  Fleet fleet(s);
  fleet.Add();
  fleet.Add();
  Limit(s, "q", {{"pods", "1M"}, {"requests.cpu", "1M"}});
  PodMaker maker(s);
  for (int replaced = 0; replaced < 6; ++replaced) {
    CHECK(fleet.ReplaceOldest(Stretched(20s)) == std::optional<int>(0));
  }
  Eventually(
      "there are ten thousand",
      [&]() -> std::string {
        return maker.made() < kPods ? std::to_string(maker.made()) + " and " + maker.Trouble() : "";
      },
      Stretched(240s));
  maker.Stop();
  CHECK(maker.Trouble() == "0 failed");
  const std::string made = quantity::Quantity::FromInt(maker.made()).ToString();
  s.WaitUsed("q", {{"pods", made}, {"requests.cpu", made}}, Stretched(15s));
  CHECK(fleet.Metric("quota_admission_decisions_total") > 0);
  WARN(made << " pods made while six replicas were replaced");
}

TEST_CASE("no request fails during a rolling update to an image that never starts",
          "[e2e][rollout][real-only]") {
  Scenario s;
  Fleet fleet(s);
  fleet.Add();
  fleet.Add();
  Limit(s, "q", {{"pods", "1M"}});
  // The API server keeps 25 connections: of so many at once some are always new.
  PodMaker maker(s, 64);
  const auto wait_for_more = [&](int more) {
    const int enough = maker.made() + more;
    Eventually("pods are created",
               [&]() -> std::string { return maker.made() < enough ? maker.Trouble() : ""; });
  };
  wait_for_more(200);
  fleet.AddWithoutImage();
  wait_for_more(400);
  maker.Stop();
  CHECK(maker.Trouble() == "0 failed");
}

TEST_CASE("a first installation refuses no request while its replicas start",
          "[e2e][rollout][real-only]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "1M"}}));
  PodMaker maker(s);
  Fleet fleet(s);
  fleet.Add();
  fleet.Add();
  Eventually("the quota is enforced", [&] {
    return Unenforced(s.GetQuota("q"), {{"pods", "1M"}});
  });
  const double asked = fleet.Metric("quota_admission_decisions_total");
  Eventually("the API server calls the replicas", [&] {
    return fleet.Metric("quota_admission_decisions_total") > asked + 100 ? "" : "not yet";
  });
  maker.Stop();
  CHECK(maker.Trouble() == "0 failed");
}

TEST_CASE(
    "the leader dies under pressure at the limit: the limit holds, and the other replica leads",
    "[e2e][rollout][real-only]") {
  constexpr std::size_t kLimit = 30;
  Scenario s;
  Fleet fleet(s);
  fleet.AddFlags({"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
                  "--leader-elect-retry-period=500ms"});
  fleet.Add();
  fleet.Add();
  Limit(s, "q", {{"pods", std::to_string(kLimit)}});
  const HeadCount heads(s.server().Kubeconfig(), s.Path("pods"), s.ResourceVersion("q"));
  Press press(s, 24);
  for (int deaths = 1; deaths <= 3; ++deaths) {
    Eventually(
        "the crowd presses", [&] { return press.rounds() < 6 * deaths ? "not yet" : ""; },
        Stretched(60s));
    fleet.KillLeader();
    fleet.Add();
    Eventually(
        "somebody leads",
        [&] { return fleet.Metric("leader_election_master_status") == 1 ? "" : "nobody"; },
        Stretched(15s));
  }
  press.Join();
  INFO(press.created() << " created, " << press.refused() << " refused; " << press.last_failure());
  const std::size_t left = press.Left();
  heads.WaitFor(left);
  CHECK(heads.most() <= kLimit);
  CHECK(heads.most() >= kLimit / 2);
  CHECK(press.created() > static_cast<int>(kLimit));
  CHECK(press.refused() > 0);
  s.WaitUsed("q", {{"pods", std::to_string(left)}}, Stretched(15s));
}

}  // namespace e2e::rollout_test
