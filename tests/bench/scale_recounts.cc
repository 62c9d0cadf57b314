// Work that concerns all of very many quotas: how long does one piece of it occupy the event loop?

#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/bench/cpu_time.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr double kMostHeldMs = 5;
constexpr int kPodsBeside = 10'000;
constexpr std::chrono::minutes kPatience{5};

// For each bound in milliseconds, the number of seconds whose longest piece of work was below it;
// the last bound is infinite.
using Holds = std::map<double, double>;

Holds HoldsOf(const e2e::Daemon& daemon) {
  const std::string kBucket = "quota_event_loop_held_seconds_bucket{le=\"";
  Holds holds;
  std::istringstream lines(daemon.MetricsText());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kBucket)) continue;
    const std::string bound = line.substr(kBucket.size(), line.find('"', kBucket.size()));
    const double ms = bound.starts_with("+Inf") ? 1e9 : std::stod(bound) * 1000;
    holds[ms] = std::stod(line.substr(line.rfind(' ')));
  }
  if (holds.empty()) throw std::runtime_error("the daemon has no quota_event_loop_held_seconds");
  return holds;
}

// The least bound above everything that `after` has and `before` does not.
double LongestSince(const Holds& before, const Holds& after) {
  const double all = after.rbegin()->second - before.rbegin()->second;
  for (const auto& [ms, seconds] : after) {
    if (seconds - before.at(ms) >= all) return ms;
  }
  return after.rbegin()->first;
}

double Total(const e2e::Daemon& daemon, const std::string& metric) {
  return daemon.Metric(metric).value_or(0);
}

class Phases {
 public:
  explicit Phases(const Scale& scale)
      : quotas_(scale.quotas), cluster_(kPodsBeside, 0), daemon_(Prepared(scale)) {
    daemon_.WaitUntilReady();
  }

  void Run() {
    std::printf(
        "\n%d quotas in as many namespaces; the longest that one piece of work held the event "
        "loop, and the processor time of all:\n\n"
        "| all quotas at once | longest hold, ms, below | CPU, s |\n|---|---|---|\n",
        quotas_);
    Measure("the start", Holds(), 0, [&] { WaitForRecounts(quotas_); });
    Measure("a quiet time, and what is scraped", [] { Rest(std::chrono::seconds(3)); });
    Measure("a resync", [&] {
      const double resyncs = Total(daemon_, "quota_resync_total");
      Wait("a resync", [&] { return Total(daemon_, "quota_resync_total") > resyncs; });
      WaitForRecounts(quotas_);
    });
    Measure("a kind that healed", [&] {
      cluster_.RefusePods(true);
      Rest(std::chrono::seconds(8));
      const double before = Recounts();
      cluster_.RefusePods(false);
      Wait("counts after it healed", [&] { return Recounts() - before >= quotas_; });
    });
  }

 private:
  e2e::DaemonOptions Prepared(const Scale& scale) {
    std::cerr << "recounts: " << scale.quotas << " quotas ...\n";
    cluster_.PutEmptyQuotas(scale.quotas);
    return {.kubeconfig = cluster_.Kubeconfig(),
            .resync_period = "30s",
            .more_flags = {"--quota-apis=core", "--enforce=", "-v=0"}};
  }

  static void Rest(std::chrono::milliseconds time) {
    (void)e2e::PollUntil([] { return false; }, time);
  }
  static void Wait(const char* what, const std::function<bool()>& done) {
    if (e2e::PollUntil(done, kPatience, std::chrono::milliseconds(500))) return;
    throw std::runtime_error(std::string("there never was: ") + what);
  }

  double Recounts() { return Total(daemon_, "quota_reconcile_total"); }
  void WaitForRecounts(double many) {
    Wait("a count of every quota", [&, counted = 0.0]() mutable {
      const double recounts = Recounts();
      const bool rests = recounts >= many && recounts == counted;
      counted = recounts;
      return rests;
    });
  }

  template <typename Act>
  void Measure(const char* what, Act act) {
    Measure(what, HoldsOf(daemon_), CpuOfProcess(daemon_.pid()).count() / 1e6, act);
  }
  template <typename Act>
  void Measure(const char* what, Holds before, double cpu_before, Act act) {
    std::cerr << "recounts: " << what << " ...\n";
    act();
    Rest(std::chrono::milliseconds(1500));  // until the last second's measurement is complete
    const Holds after = HoldsOf(daemon_);
    for (const auto& [ms, seconds] : after) before.try_emplace(ms, 0.0);
    const double cpu = CpuOfProcess(daemon_.pid()).count() / 1e6 - cpu_before;
    std::printf("| %s | %s | %.1f |\n", what,
                AtMost(LongestSince(before, after), kMostHeldMs, 2).c_str(), cpu);
    std::fflush(stdout);
  }

  int quotas_;
  PaperCluster cluster_;
  e2e::Daemon daemon_;
};

}  // namespace

void AskRecounts(const Scale& scale) { Phases(scale).Run(); }

}  // namespace bench
