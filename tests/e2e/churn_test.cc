// A thousand pods of ten workloads are created and deleted in random order during faults. At the
// end the status is correct, and there were no more writes than changes. QCM_E2E_SEED repeats a
// run.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/write_recorder.h"

namespace e2e::churn_test {
namespace {

constexpr int kWorkloads = 10;
constexpr int kPods = 1000;

std::uint64_t Seed() {
  const char* given = std::getenv("QCM_E2E_SEED");
  return given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
}

// Workload w: (w + 1) * 10m CPU, (w + 1) Mi of memory.
json::Value PodOf(int index) {
  const int size = index % kWorkloads + 1;
  return Pod("p" + std::to_string(index),
             {{"cpu", std::to_string(10 * size) + "m"}, {"memory", std::to_string(size) + "Mi"}});
}

// The pods that exist, as the test knows them.
class Population {
 public:
  Population(Scenario& scenario, std::uint64_t seed) : scenario_(scenario), random_(seed) {}

  // Creates every pod once and deletes about two thirds of them, in random order, in rounds of
  // concurrent requests. Calls `between` after each round with its number.
  void Churn(const std::function<void(int)>& between) {
    std::vector<int> waiting(kPods);
    for (int i = 0; i < kPods; ++i) waiting[static_cast<std::size_t>(i)] = i;
    std::shuffle(waiting.begin(), waiting.end(), random_);
    for (int round = 0; !waiting.empty(); ++round) {
      std::vector<client::ApiRequest> requests;
      for (int i = 0; i < kAtOnce && !waiting.empty(); ++i) {
        requests.push_back(CreateRequest(waiting.back()));
        next_alive_.push_back(waiting.back());
        waiting.pop_back();
      }
      for (int i = 0; i < kAtOnce * 2 / 3 && !alive_.empty(); ++i)
        requests.push_back(DeleteRandom());
      Send(std::move(requests));
      alive_.insert(alive_.end(), next_alive_.begin(), next_alive_.end());
      next_alive_.clear();
      between(round);
    }
  }

  // Makes the server's pods equal to ours: for a sandbox that lost them.
  void CreateAllAgain() {
    std::vector<client::ApiRequest> requests;
    for (const int index : alive_) requests.push_back(CreateRequest(index));
    Send(std::move(requests));
  }

  [[nodiscard]] std::string Difference(const Quantities& used) const {
    std::int64_t milli_cpu = 0;
    std::int64_t mebi = 0;
    for (const int index : alive_) {
      milli_cpu += std::int64_t{10} * (index % kWorkloads + 1);
      mebi += index % kWorkloads + 1;
    }
    const Quantities truth{{"pods", std::to_string(alive_.size())},
                           {"requests.cpu", std::to_string(milli_cpu) + "m"},
                           {"requests.memory", std::to_string(mebi) + "Mi"}};
    for (const auto& [name, text] : truth) {
      const auto found = used.find(name);
      if (found == used.end()) return "no " + name + "; used: " + ToText(used);
      const auto is = quantity::Quantity::Parse(found->second);
      if (!is || *is != *quantity::Quantity::Parse(text)) {
        return "used: " + ToText(used) + "; truth: " + ToText(truth);
      }
    }
    return "";
  }

  [[nodiscard]] int changes() const { return changes_; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  static constexpr int kRounds = 50;

 private:
  static constexpr int kAtOnce = kPods / kRounds;

  client::ApiRequest CreateRequest(int index) {
    return {.verb = "POST",
            .path = scenario_.Path("pods"),
            .content_type = std::string(client::kJson),
            .body = json::Write(PodOf(index)),
            .timeout = Stretched(60s)};
  }

  client::ApiRequest DeleteRandom() {
    const std::size_t at = random_() % alive_.size();
    std::swap(alive_[at], alive_.back());
    const auto name = "p" + std::to_string(alive_.back());
    alive_.pop_back();
    return {.verb = "DELETE",
            .path = scenario_.Path("pods", name),
            .query = {{"gracePeriodSeconds", "0"}},
            .timeout = Stretched(60s)};
  }

  void Send(std::vector<client::ApiRequest> requests) {
    changes_ += static_cast<int>(requests.size());
    for (const auto& answer : scenario_.api().DoAll(std::move(requests), 8)) {
      if (!answer) throw std::runtime_error(answer.error().message);
    }
  }

  Scenario& scenario_;
  std::mt19937_64 random_;
  std::vector<int> alive_;
  std::vector<int> next_alive_;
  int changes_ = 0;
};

json::Value ChurnQuota() {
  return Quota("q", {{"pods", "5k"}, {"requests.cpu", "500"}, {"requests.memory", "64Gi"}});
}

void WaitForTruth(Scenario& s, const Population& population) {
  Eventually(
      "status.used equals the truth", [&] { return population.Difference(s.Used("q")); },
      Stretched(60s));
}

}  // namespace

TEST_CASE("a thousand pods come and go while the watch is cut ten times", "[e2e][churn][load]") {
  const auto seed = Seed();
  INFO("QCM_E2E_SEED=" << seed);
  Scenario s;
  const auto quota = s.Create("resourcequotas", ChurnQuota());
  WriteRecorder recorder(s.server().Kubeconfig(), s.ns(),
                         std::string(quota.StringAt({"metadata", "resourceVersion"})));
  TcpProxy proxy(s.server().port());
  s.StartDaemon("5m", s.server().Kubeconfig(proxy.port()));
  Population population(s, seed);
  int cuts = 0;
  population.Churn([&](int round) {
    if (round % (Population::kRounds / 10) != 2) return;
    proxy.Cut();
    ++cuts;
  });
  CHECK(cuts == 10);
  WaitForTruth(s, population);
  recorder.WaitSeen("q", s.ResourceVersion("q"));
  const int writes = recorder.Writes("q");
  WARN(writes << " status writes for " << population.changes() << " changes");
  CHECK(writes >= 1);
  CHECK(writes <= population.changes() + 1);  // one for the quota itself
}

TEST_CASE("a thousand pods come and go while server and daemon are killed",
          "[e2e][churn][load][slow]") {
  const auto seed = Seed();
  INFO("QCM_E2E_SEED=" << seed);
  const auto server = StartServer();
  Scenario s(*server);
  const auto quota = s.Create("resourcequotas", ChurnQuota());
  WriteRecorder recorder(server->Kubeconfig(), s.ns(),
                         std::string(quota.StringAt({"metadata", "resourceVersion"})));
  auto& daemon = s.StartDaemon();
  Population population(s, seed);
  int restarts = 1;  // of the daemon, the first start included: each may find one more change
  population.Churn([&](int round) {
    const auto dice = population.random()() % 10;
    const bool last = round == Population::kRounds - 1;
    if (dice == 0 || last) {
      server->Kill();
      server->Start();
      if (!server->keeps_objects()) {
        s.api().Create(PathOf("namespaces"), Namespace(s.ns()));
        s.Create("resourcequotas", ChurnQuota());
        population.CreateAllAgain();
        ++restarts;
      }
    }
    if (dice == 1 || last) {
      daemon.Kill();
      daemon.Start();
      ++restarts;
    }
  });
  WaitForTruth(s, population);
  recorder.WaitSeen("q", s.ResourceVersion("q"));
  const int writes = recorder.Writes("q");
  WARN(writes << " status writes for " << population.changes() << " changes");
  CHECK(writes >= 1);
  CHECK(writes <= population.changes() + restarts);
}

}  // namespace e2e::churn_test
