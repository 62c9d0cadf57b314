// Does the daemon stay stable? Two replicas on the sandbox under a mixed load, with a fault every
// few seconds. Memory, descriptors, threads and charges are watched, and after each cycle all
// quotas must be right.
//
//   soak [--duration 1h] [--rate N] [--seed N] [--out FOLDER] [--lag-limit SECONDS]
//
// Writes FOLDER/soak.csv and FOLDER/soak.svg. Exit code 1: a value rose that should be flat, or a
// quota was overcommitted, or was not right within the limit (15 s) after a fault.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <vector>

#include "pkg/base/duration.h"
#include "tests/bench/run_main.h"
#include "tests/bench/soak_faults.h"
#include "tests/bench/soak_load.h"
#include "tests/bench/soak_record.h"
#include "tests/e2e/harness/wait.h"
#include "tests/e2e/harness/watch_follower.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWindow{8000};  // of load, in one cycle
constexpr std::chrono::milliseconds kBetweenFaults{4000};
constexpr std::chrono::milliseconds kBetweenSamples{2000};

struct SoakOptions {
  std::chrono::nanoseconds duration = std::chrono::hours(1);
  int rate = 40;
  std::uint64_t seed = 1;
  std::string out = ".";
  double lag_limit = 15;
};

double SecondsSince(steady_clock::time_point began) {
  return std::chrono::duration<double>(steady_clock::now() - began).count();
}

// Watches every stored version of every quota.
class LimitWatch {
 public:
  explicit LimitWatch(const std::string& kubeconfig) {
    for (const char* path :
         {"/api/v1/resourcequotas", "/apis/policy.karmada.io/v1alpha1/karmadaquotas",
          "/apis/core.ironcore.dev/v1alpha1/resourcequotas"}) {
      followers_.push_back(std::make_unique<e2e::WatchFollower>(
          kubeconfig, path, "",
          [this](const std::string&, const json::Value& quota) { Look(quota); }));
    }
  }
  // "" while no quota was ever above a limit.
  [[nodiscard]] std::string first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }
  [[nodiscard]] int versions() const { return versions_; }

 private:
  void Look(const json::Value& quota) {
    ++versions_;
    const std::string over = Overcommitted(quota);
    if (over.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!first_.empty()) return;
    first_ = std::string(quota.StringAt({"metadata", "namespace"})) + ": " + over;
  }

  std::atomic<int> versions_{0};
  mutable std::mutex mutex_;
  std::string first_;                                           // guarded by mutex_
  std::vector<std::unique_ptr<e2e::WatchFollower>> followers_;  // last: they use the others
};

class Soak {
 public:
  explicit Soak(const SoakOptions& options)
      : options_(options),
        world_({.core = 10, .karmada = 2, .ironcore = 2, .crowds = 1}),
        cluster_(world_),
        load_(cluster_.Kubeconfig(), world_, options.rate),
        faults_(
            cluster_, options.seed, [this] { load_.Pause(); }, [this] { load_.Resume(); }),
        watch_(cluster_.Kubeconfig()) {}

  int Run() {
    Settle("the start");
    while (SecondsSince(began_) < std::chrono::duration<double>(options_.duration).count()) {
      const std::string fault = LoadWithFaults();
      if (!Settle(fault)) break;
      Save();
    }
    WaitForCharges();
    Save();
    return Tell();
  }

 private:
  // Returns what went wrong meanwhile.
  std::string LoadWithFaults() {
    std::string names;
    load_.Resume();
    const auto end = steady_clock::now() + kWindow;
    auto next_fault = steady_clock::now() + kBetweenFaults / 4;
    auto next_sample = steady_clock::now() + kBetweenSamples;
    while (steady_clock::now() < end) {
      (void)e2e::PollUntil(
          [&] {
            return steady_clock::now() >= std::min({end, next_fault, next_sample});
          },
          kWindow);
      if (steady_clock::now() >= next_fault) {
        if (!names.empty()) names += " + ";
        names += faults_.Next();
        next_fault = steady_clock::now() + kBetweenFaults;
      }
      if (steady_clock::now() >= next_sample) {
        record_.Add(Sampled());
        next_sample = steady_clock::now() + kBetweenSamples;
      }
    }
    faults_.Clear();
    load_.Pause();
    return names;
  }

  // False: the replica that must survive is gone.
  bool Settle(const std::string& fault) {
    const auto began = steady_clock::now();
    Standing standing;
    const auto all_true = [&] {
      try {
        standing = world_.Look(cluster_.api());
      } catch (const std::exception& error) {
        standing = {.untrue = 1, .first = error.what()};
      }
      return standing.untrue == 0;
    };
    const auto limit = std::chrono::duration<double>(options_.lag_limit);
    const bool settled =
        e2e::PollUntil(all_true, std::chrono::ceil<std::chrono::milliseconds>(limit),
                       std::chrono::milliseconds(100));
    Sample sample = Sampled();
    sample.fault = fault;
    sample.lag_seconds = SecondsSince(began);
    sample.untrue = settled ? 0 : standing.untrue;
    std::printf("%6.0f s  %-70s lag %5.2f s, %zu objects, %4.1f MB, %.0f fds, %.0f charges%s%s\n",
                sample.seconds, fault.c_str(), sample.lag_seconds, world_.objects(),
                sample.first.resident_mb, sample.first.descriptors, sample.first.charges,
                settled ? "" : "  UNTRUE: ", settled ? "" : standing.first.c_str());
    std::fflush(stdout);
    record_.Add(std::move(sample));
    if (cluster_.first().Running()) return true;
    std::cerr << "the first replica ended:\n" << e2e::Tail(cluster_.first().Log(), 20) << "\n";
    return false;
  }

  Sample Sampled() {
    Sample sample;
    sample.seconds = SecondsSince(began_);
    if (!IsSuspended(cluster_.first())) sample.first = VitalsOf(cluster_.first());
    if (!IsSuspended(cluster_.second())) sample.second = VitalsOf(cluster_.second());
    return sample;
  }

  // A suspended daemon does not answer scrapes.
  static bool IsSuspended(const e2e::Daemon& daemon) {
    const std::string status = e2e::ReadFile("/proc/" + std::to_string(daemon.pid()) + "/status");
    return status.find("State:\tT") != std::string::npos;
  }

  // Without load no charge is held for longer than 15 s.
  void WaitForCharges() {
    charges_left_ = 1;
    (void)e2e::PollUntil(
        [this] {
          charges_left_ = VitalsOf(cluster_.first()).charges + VitalsOf(cluster_.second()).charges;
          return charges_left_ == 0;
        },
        e2e::Stretched(std::chrono::seconds(20)), std::chrono::milliseconds(200));
  }

  void Save() {
    std::filesystem::create_directories(options_.out);
    std::ofstream(options_.out + "/soak.csv") << record_.Csv();
    char subtitle[200];
    std::snprintf(subtitle, sizeof subtitle,
                  "%.0f minutes, %zu quotas of three APIs, %d requests (%d refused by quota), "
                  "%d cycles with two faults each, seed %llu",
                  SecondsSince(began_) / 60, world_.quotas(), load_.succeeded() + load_.refused(),
                  load_.refused(), record_.cycles(),
                  static_cast<unsigned long long>(options_.seed));
    std::ofstream(options_.out + "/soak.svg") << record_.Svg(subtitle);
  }

  int Tell() {
    Verdict verdict = record_.Judge();
    const auto add = [&](bool good, const std::string& line) {
      verdict.flat = verdict.flat && good;
      verdict.lines.push_back(line + (good ? "" : ": WRONG"));
    };
    add(record_.untrue() == 0,
        "quotas not true within the limit: " + std::to_string(record_.untrue()));
    const std::string over = watch_.first();
    add(over.empty() && watch_.versions() > 0,
        "stored versions of quotas: " + std::to_string(watch_.versions()) +
            ", above a limit: " + (over.empty() ? "none" : over));
    add(record_.Advances() > 0,
        "writes that charged in advance: " + std::to_string(static_cast<int>(record_.Advances())));
    add(charges_left_ == 0,
        "charges at the end: " + std::to_string(static_cast<int>(charges_left_)));
    add(cluster_.first().Running(), "the first replica lives");
    std::printf("\n%.0f s, %d cycles; %d requests done, %d refused by quota, %d failed by faults\n",
                SecondsSince(began_), record_.cycles(), load_.succeeded(), load_.refused(),
                load_.failed());
    std::printf("until all quotas were true: median %.2f s, at most %.2f s\n", record_.MedianLag(),
                record_.LongestLag());
    for (const std::string& line : verdict.lines) std::printf("%s\n", line.c_str());
    std::printf("verdict: %s; see %s/soak.csv and soak.svg\n", verdict.flat ? "good" : "BAD",
                options_.out.c_str());
    return verdict.flat ? 0 : 1;
  }

  const SoakOptions options_;
  SoakWorld world_;
  SoakCluster cluster_;
  SoakLoad load_;
  SoakFaults faults_;
  LimitWatch watch_;
  SoakRecord record_;
  double charges_left_ = 0;
  const steady_clock::time_point began_ = steady_clock::now();
};

int Usage() {
  std::cerr << "usage: soak [--duration 1h] [--rate N] [--seed N] [--out FOLDER] "
               "[--lag-limit SECONDS]\n";
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  SoakOptions options;
  if (arguments.size() % 2 != 0) return Usage();
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--duration") {
      const auto duration = base::ParseDuration(value);
      if (!duration) return Usage();
      options.duration = *duration;
    } else if (arguments[i] == "--rate") {
      options.rate = std::atoi(value.c_str());
    } else if (arguments[i] == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (arguments[i] == "--out") {
      options.out = value;
    } else if (arguments[i] == "--lag-limit") {
      options.lag_limit = std::atof(value.c_str());
    } else {
      return Usage();
    }
  }
  if (options.duration.count() <= 0 || options.rate <= 0 || options.lag_limit <= 0) return Usage();
  return Soak(options).Run();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::RunMain("soak", argc, argv, bench::Main); }
