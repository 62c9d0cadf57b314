// 500 creations and deletions a second under one quota: how far does `used` lag, at what cost?
//
// Pods are only created and Secrets only deleted, so each of them in `used` tells which changes it
// has seen.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"
#include "tests/e2e/harness/watch_follower.h"

namespace bench {
namespace {

using std::chrono::steady_clock;
using Moment = steady_clock::time_point;

constexpr int kEachTick = 5;  // creations, and as many deletions
constexpr std::chrono::milliseconds kTick{20};
constexpr const char* kNamespace = "churn";
constexpr double kMostLagMs = 250;
constexpr double kMostCorePercent = 10;
constexpr double kMostWrites = 20;  // a second

// When `used` showed so many changes of one kind.
class Shown {
 public:
  void Add(int changes, Moment now) {
    if (changes > static_cast<int>(at_.size())) at_.resize(static_cast<std::size_t>(changes), now);
  }
  [[nodiscard]] int size() const { return static_cast<int>(at_.size()); }
  // Appends the lag of each change answered at these times, in milliseconds.
  void AppendLags(const std::vector<Moment>& answered, std::vector<double>& lags) const {
    for (std::size_t i = 0; i < std::min(answered.size(), at_.size()); ++i) {
      const std::chrono::duration<double, std::milli> lag = at_[i] - answered[i];
      lags.push_back(std::max(0.0, lag.count()));
    }
  }

 private:
  std::vector<Moment> at_;
};

int WholeNumber(std::string_view text) {
  const auto quantity = quantity::Quantity::Parse(text);
  return quantity ? static_cast<int>(quantity->nanos() / 1'000'000'000) : -1;
}

class Churn {
 public:
  explicit Churn(const Scale& scale)
      : seconds_(scale.seconds),
        secrets_(scale.seconds * kEachTick * 50),
        server_(e2e::StartServer()),
        api_(server_->Kubeconfig()) {}

  void Run() {
    Fill();
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = server_->Kubeconfig(),
                           .more_flags = {"--quota-apis=core", "--enforce=", "-v=0"}});
    daemon_->WaitUntilReady();
    follower_ = std::make_unique<e2e::WatchFollower>(
        server_->Kubeconfig(), e2e::PathOf("resourcequotas", kNamespace), "",
        [this](const std::string&, const json::Value& quota) { See(quota); });
    WaitUntilShown(0);
    const Micros cpu = CpuOfProcess(daemon_->pid());
    const int versions = Versions();
    const auto began = steady_clock::now();
    Change();
    const std::chrono::duration<double> took = steady_clock::now() - began;
    const double core = (CpuOfProcess(daemon_->pid()) - cpu).count() / 1e4 / took.count();
    const double writes = (Versions() - versions) / took.count();
    WaitUntilShown(static_cast<int>(created_.size()));
    Tell(took.count(), core, writes);
  }

 private:
  void Must(std::vector<client::ApiRequest> requests) {
    for (const auto& answer : api_.DoAll(std::move(requests), 32)) {
      if (!answer) throw std::runtime_error(answer.error().message);
    }
  }

  void Fill() {
    std::cerr << "churn: " << secrets_ << " secrets to delete ...\n";
    api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kNamespace));
    api_.Create(e2e::PathOf("resourcequotas", kNamespace),
                e2e::Quota("q", {{"pods", "1M"}, {"secrets", "1M"}, {"requests.cpu", "1M"}}));
    for (int made = 0; made < secrets_;) {
      std::vector<client::ApiRequest> requests;
      for (; made < secrets_ && requests.size() < 4000; ++made) {
        requests.push_back(e2e::PostOf(e2e::PathOf("secrets", kNamespace),
                                       e2e::Secret("s" + std::to_string(made))));
      }
      Must(std::move(requests));
    }
  }

  void See(const json::Value& quota) {
    const auto now = steady_clock::now();
    const int pods = WholeNumber(quota.StringAt({"status", "used", "pods"}));
    const int secrets = WholeNumber(quota.StringAt({"status", "used", "secrets"}));
    const std::lock_guard lock(mutex_);
    ++versions_;
    counted_ = counted_ || (pods == 0 && secrets == secrets_);
    if (!counted_) return;
    pods_.Add(pods, now);
    deletions_.Add(secrets_ - secrets, now);
  }

  int Versions() {
    const std::lock_guard lock(mutex_);
    return versions_;
  }

  void WaitUntilShown(int changes) {
    e2e::Eventually(
        "used shows every change",
        [&] {
          const std::lock_guard lock(mutex_);
          const bool all = counted_ && pods_.size() >= changes && deletions_.size() >= changes;
          return all ? "" : "not yet";
        },
        std::chrono::seconds(60));
  }

  void Change() {
    std::cerr << "churn: " << 2 * kEachTick * 50 << " changes a second for " << seconds_
              << " s ...\n";
    const auto end = steady_clock::now() + std::chrono::seconds(seconds_);
    for (auto next = steady_clock::now();
         steady_clock::now() < end && static_cast<int>(created_.size()) < secrets_; next += kTick) {
      (void)e2e::PollUntil([next] { return steady_clock::now() >= next; }, std::chrono::seconds(1),
                           std::chrono::milliseconds(1));
      std::vector<client::ApiRequest> requests;
      for (int i = 0; i < kEachTick; ++i) {
        const std::string number = std::to_string(static_cast<int>(created_.size()) + i);
        requests.push_back(e2e::PostOf(e2e::PathOf("pods", kNamespace),
                                       e2e::Pod("p" + number, {{"cpu", "100m"}})));
        requests.push_back(
            {.verb = "DELETE", .path = e2e::PathOf("secrets", kNamespace, "s" + number)});
      }
      Must(std::move(requests));
      created_.resize(created_.size() + kEachTick, steady_clock::now());
    }
  }

  void Tell(double seconds, double core, double writes) {
    std::vector<double> lags;
    pods_.AppendLags(created_, lags);
    deletions_.AppendLags(created_, lags);  // they were sent, and answered, together
    std::sort(lags.begin(), lags.end());
    const auto at = [&](double share) {
      return lags[static_cast<std::size_t>(share * static_cast<double>(lags.size() - 1))];
    };
    const auto changes = static_cast<double>(2 * created_.size());
    std::printf(
        "\nCreations of pods and deletions of Secrets in one namespace with one quota, on the "
        "sandbox, for %.0f s:\n\n| | |\n|---|---|\n"
        "| changes a second | %.0f |\n"
        "| from the answer to a change until `used` shows it: median, p99, longest, ms | %.1f, %s, "
        "%.1f |\n"
        "| the daemon's CPU, of one core, %% | %s |\n"
        "| the daemon's CPU a change, µs | %.0f |\n"
        "| status writes a second | %s |\n",
        seconds, changes / seconds, at(0.5), AtMost(at(0.99), kMostLagMs).c_str(), at(1),
        AtMost(core, kMostCorePercent).c_str(), core * 1e4 * seconds / changes,
        AtMost(writes, kMostWrites).c_str());
    std::fflush(stdout);
  }

  const int seconds_;
  const int secrets_;
  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  std::unique_ptr<e2e::Daemon> daemon_;
  std::vector<Moment> created_;  // when the n-th creation and deletion were answered
  std::mutex mutex_;
  Shown pods_;  // guarded by mutex_, as all below
  Shown deletions_;
  int versions_ = 0;
  bool counted_ = false;  // a status showed what is there before the first change
  std::unique_ptr<e2e::WatchFollower> follower_;  // last: it uses the others
};

}  // namespace

void AskChurn(const Scale& scale) { Churn(scale).Run(); }

}  // namespace bench
