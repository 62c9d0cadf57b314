// What does a large cluster cost? Many namespaces with a quota each, many objects, and many changes
// a second on the sandbox: the daemon's memory and CPU, how long until `used` shows a change
// compared to an idle cluster, and whether all quotas are right at the end.
//
//   load_bench [--namespaces 5000] [--objects 100000] [--rate 500] [--seconds 60]
//
// Exit code 1: a quota is wrong at the end.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/run_main.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"
#include "tests/e2e/harness/watch_follower.h"

namespace bench {
namespace {

using std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

constexpr const char* kQuota = "q";
constexpr std::size_t kParallel = 32;
constexpr int kQuietChanges = 100;
constexpr std::chrono::seconds kPatience{180};

struct Size {
  int namespaces = 5000;
  int objects = 100'000;
  int rate = 500;
  int seconds = 60;
};

double PercentileOf(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(percent / 100 * static_cast<double>(values.size() - 1));
  return values[at];
}

// The changes that `used` does not show yet. Each namespace has at most one, so that the expected
// value is known. Used by two threads.
class Pending {
 public:
  // False: the namespace already has one.
  bool Add(const std::string& ns, const std::string& used) {
    const std::lock_guard lock(mutex_);
    return open_.try_emplace(ns, Change{used, {}, {}}).second;
  }
  void OnAnswer(const std::string& ns, steady_clock::time_point at) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(ns);
    found->second.answered = at;
    CloseIfDone(found);
  }
  void OnUsed(const std::string& ns, const std::string& used) {
    const std::lock_guard lock(mutex_);
    ++versions_;
    const auto found = open_.find(ns);
    if (found == open_.end() || found->second.used != used) return;
    found->second.shown = steady_clock::now();
    CloseIfDone(found);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return open_.size();
  }
  [[nodiscard]] int versions() const {
    const std::lock_guard lock(mutex_);
    return versions_;
  }
  // Milliseconds of all changes that were shown since the last call.
  std::vector<double> TakeLags() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lags_, {});
  }

 private:
  struct Change {
    std::string used;
    std::optional<steady_clock::time_point> answered;
    std::optional<steady_clock::time_point> shown;
  };
  // Used may show the change before the client has its answer.
  void CloseIfDone(std::map<std::string, Change>::iterator change) {
    if (!change->second.answered || !change->second.shown) return;
    lags_.push_back(
        std::max(0.0, Millis(*change->second.shown - *change->second.answered).count()));
    open_.erase(change);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Change> open_;  // by namespace; guarded by mutex_, like all members
  std::vector<double> lags_;
  int versions_ = 0;
};

class LoadBench {
 public:
  explicit LoadBench(const Size& size)
      : size_(size), server_(e2e::StartServer()), api_(server_->Kubeconfig()) {
    for (int i = 0; i < size.namespaces; ++i) counts_["load-" + std::to_string(i)] = 0;
    for (const auto& [ns, count] : counts_) names_.push_back(ns);
  }

  int Run() {
    Fill();
    StartDaemon();
    follower_ = std::make_unique<e2e::WatchFollower>(
        server_->Kubeconfig(), e2e::PathOf("resourcequotas"), "",
        [this](const std::string&, const json::Value& quota) {
          pending_.OnUsed(std::string(quota.StringAt({"metadata", "namespace"})),
                          std::string(quota.StringAt({"status", "used", "pods"})));
        });
    Quiet();
    Busy();
    return Tell();
  }

 private:
  // Sends all of them. Throws if one fails.
  void Must(std::vector<client::ApiRequest> requests) {
    for (const auto& answer : api_.DoAll(std::move(requests), kParallel)) {
      if (!answer) throw std::runtime_error(answer.error().message);
    }
  }

  static client::ApiRequest Creation(const std::string& ns, int number) {
    return e2e::PostOf(e2e::PathOf("pods", ns),
                       e2e::Pod("p" + std::to_string(number), {{"cpu", "100m"}}));
  }

  void Fill() {
    std::cerr << "filling " << size_.namespaces << " namespaces with " << size_.objects
              << " pods ...\n";
    std::vector<client::ApiRequest> spaces;
    std::vector<client::ApiRequest> quotas;
    for (const std::string& ns : names_) {
      spaces.push_back(e2e::PostOf(e2e::PathOf("namespaces"), e2e::Namespace(ns)));
      quotas.push_back(e2e::PostOf(e2e::PathOf("resourcequotas", ns),
                                   e2e::Quota(kQuota, {{"pods", "1000"}, {"cpu", "1000"}})));
    }
    Must(std::move(spaces));
    Must(std::move(quotas));
    for (int made = 0; made < size_.objects;) {
      std::vector<client::ApiRequest> pods;
      for (; made < size_.objects && pods.size() < 4000; ++made) {
        const std::string& ns = names_[static_cast<std::size_t>(made) % names_.size()];
        pods.push_back(Creation(ns, counts_[ns]++));
      }
      Must(std::move(pods));
    }
  }

  void StartDaemon() {
    const auto began = steady_clock::now();
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = server_->Kubeconfig(),
                           .more_flags = {"--quota-apis=core", "--enforce=", "-v=0"}});
    daemon_->WaitUntilReady();
    if (!e2e::PollUntil([this] { return Wrong() == 0; }, kPatience,
                        std::chrono::milliseconds(500))) {
      throw std::runtime_error(std::to_string(Wrong()) + " quotas never became true");
    }
    seconds_to_true_ = std::chrono::duration<double>(steady_clock::now() - began).count();
    at_start_ = e2e::UsageOf(daemon_->pid());
    std::cerr << "all true after " << seconds_to_true_ << " s\n";
  }

  // Number of quotas whose used differs from what exists.
  std::size_t Wrong() {
    const json::Value list = api_.Get(e2e::PathOf("resourcequotas"));
    std::size_t right = 0;
    for (const json::Value& quota : *list.At({"items"})->AsArray()) {
      const auto found = counts_.find(quota.StringAt({"metadata", "namespace"}));
      if (found == counts_.end()) continue;
      const json::Object* used = quota.At({"status", "used"}) == nullptr
                                     ? nullptr
                                     : quota.At({"status", "used"})->AsObject();
      if (used == nullptr || used->size() != 2) continue;
      const auto cpu = quantity::Quantity::Parse(quota.StringAt({"status", "used", "cpu"}));
      const bool alike =
          quota.StringAt({"status", "used", "pods"}) == std::to_string(found->second) && cpu &&
          *cpu == *quantity::Quantity::Parse(std::to_string(found->second * 100) + "m");
      if (alike) ++right;
    }
    return counts_.size() - right;
  }

  // Deletes the namespace's last pod, or creates one more. Empty if a change of it is not shown
  // yet.
  std::optional<client::ApiRequest> NextChange(const std::string& ns) {
    int& count = counts_.find(ns)->second;
    const bool more = count == 0 || random_() % 2 == 0;
    if (!pending_.Add(ns, std::to_string(count + (more ? 1 : -1)))) return std::nullopt;
    if (more) return Creation(ns, count++);
    return client::ApiRequest{.verb = "DELETE",
                              .path = e2e::PathOf("pods", ns, "p" + std::to_string(--count)),
                              .query = {{"gracePeriodSeconds", "0"}}};
  }

  // Makes so many changes at once; returns how many there were.
  int Change(int changes) {
    std::vector<client::ApiRequest> requests;
    std::vector<std::string> where;
    for (int tries = 0; static_cast<int>(requests.size()) < changes && tries < 10 * changes;
         ++tries) {
      const std::string& ns = names_[random_() % names_.size()];
      auto request = NextChange(ns);
      if (!request) continue;
      requests.push_back(std::move(*request));
      where.push_back(ns);
    }
    const auto answers = api_.DoAll(std::move(requests), kParallel);
    const auto now = steady_clock::now();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) throw std::runtime_error(answers[i].error().message);
      pending_.OnAnswer(where[i], now);
    }
    return static_cast<int>(answers.size());
  }

  void WaitShown() {
    e2e::Eventually(
        "used shows every change", [this] { return pending_.size() == 0 ? "" : "not yet"; },
        kPatience);
  }

  void Quiet() {
    for (int i = 0; i < kQuietChanges; ++i) {
      Change(1);
      WaitShown();
    }
    quiet_ = pending_.TakeLags();
  }

  void Busy() {
    std::cerr << size_.rate << " changes a second for " << size_.seconds << " s ...\n";
    constexpr std::chrono::milliseconds kTick{20};
    const int each = std::max(1, size_.rate / 50);
    const int versions_before = pending_.versions();
    const Micros cpu_before = CpuOfProcess(daemon_->pid());
    const auto began = steady_clock::now();
    const auto end = began + std::chrono::seconds(size_.seconds);
    for (auto next = began; steady_clock::now() < end; next += kTick) {
      (void)e2e::PollUntil([next] { return steady_clock::now() >= next; }, std::chrono::seconds(1),
                           std::chrono::milliseconds(1));
      changes_ += Change(each);
    }
    busy_seconds_ = std::chrono::duration<double>(steady_clock::now() - began).count();
    busy_cpu_ = (CpuOfProcess(daemon_->pid()) - cpu_before).count() / 1e6;
    WaitShown();
    busy_ = pending_.TakeLags();
    writes_ = pending_.versions() - versions_before;
    at_end_ = e2e::UsageOf(daemon_->pid());
  }

  int Tell() {
    const std::size_t wrong = Wrong();
    const double drift = daemon_->Metric("quota_resync_drift_objects_total").value_or(0);
    const double p50 = PercentileOf(busy_, 50);
    const double p99 = PercentileOf(busy_, 99);
    std::printf(
        "\n| %d namespaces with a quota, %d pods | |\n|---|---|\n"
        "| from the start until all quotas are right, s | %.1f |\n"
        "| resident memory then and after the load, MB | %.0f, %.0f |\n"
        "| changes a second: requested, made | %d, %.0f |\n"
        "| the daemon's CPU, of one core | %.0f %% |\n"
        "| the daemon's CPU a change, µs | %.0f |\n"
        "| status writes: a second, a change | %.0f; %.2f |\n"
        "| from a change until used shows it, without load: p50, p99, ms | %.1f, %.1f |\n"
        "| the same under load: p50, p99, longest, ms | %.1f, %.1f, %.1f |\n"
        "| ratio of both: p50, p99 | %.2f, %.2f |\n"
        "| quotas that are wrong at the end | %zu of %zu |\n"
        "| differences that resyncs found | %.0f |\n",
        size_.namespaces, size_.objects, seconds_to_true_,
        static_cast<double>(at_start_.resident_bytes) / 1e6,
        static_cast<double>(at_end_.resident_bytes) / 1e6, size_.rate, changes_ / busy_seconds_,
        100 * busy_cpu_ / busy_seconds_, 1e6 * busy_cpu_ / std::max(1, changes_),
        writes_ / busy_seconds_, 1.0 * writes_ / std::max(1, changes_), PercentileOf(quiet_, 50),
        PercentileOf(quiet_, 99), p50, p99, PercentileOf(busy_, 100),
        p50 / std::max(0.001, PercentileOf(quiet_, 50)),
        p99 / std::max(0.001, PercentileOf(quiet_, 99)), wrong, counts_.size(), drift);
    return wrong == 0 && drift == 0 ? 0 : 1;
  }

  const Size size_;
  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  std::map<std::string, int, std::less<>> counts_;  // pods "p0" … of each namespace
  std::vector<std::string> names_;
  std::unique_ptr<e2e::Daemon> daemon_;
  Pending pending_;
  std::unique_ptr<e2e::WatchFollower> follower_;
  std::mt19937_64 random_{5};
  double seconds_to_true_ = 0;
  e2e::ProcessUsage at_start_;
  e2e::ProcessUsage at_end_;
  std::vector<double> quiet_;
  std::vector<double> busy_;
  double busy_seconds_ = 0;
  double busy_cpu_ = 0;
  int changes_ = 0;
  int writes_ = 0;
};

int Main(const std::vector<std::string>& arguments) {
  Size size;
  const std::map<std::string, int*> numbers{{"--namespaces", &size.namespaces},
                                            {"--objects", &size.objects},
                                            {"--rate", &size.rate},
                                            {"--seconds", &size.seconds}};
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto number = numbers.find(arguments[i]);
    const int value = i + 1 < arguments.size() ? std::atoi(arguments[i + 1].c_str()) : 0;
    if (number == numbers.end() || value <= 0) {
      std::cerr << "usage: load_bench [--namespaces N] [--objects N] [--rate N] [--seconds N]\n";
      return 2;
    }
    *number->second = value;
  }
  return LoadBench(size).Run();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::RunMain("load_bench", argc, argv, bench::Main); }
