// One ClusterQuota over many namespaces of a real server.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "pkg/quantity/quantity.h"
#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/load.h"
#include "tests/bench/quota_watch.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

using std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

constexpr int kManyNamespaces = 1000;
constexpr int kManyPods = 10'000;
constexpr int kTimes = 21;
constexpr double kMostMegabytes = 45;
constexpr double kMostShownAfterMs = 5;
constexpr std::chrono::seconds kLong{60};

std::string NumberedNamespace(int index) {
  return "many-" + std::to_string(index % kManyNamespaces);
}

client::ApiRequest Post(const std::string& path, std::string body) {
  return {.verb = "POST",
          .path = path,
          .content_type = std::string(client::kJson),
          .body = std::move(body),
          .timeout = std::chrono::seconds(120)};
}

class ReachedNamespaces {
 public:
  ReachedNamespaces() {
    CreateAll(api_, 0, kManyNamespaces, [](int i) {
      json::Value ns = e2e::Namespace(NumberedNamespace(i));
      ns.Make({"metadata", "labels", "team"}) = "a";
      return Post(e2e::PathOf("namespaces"), json::Write(ns));
    });
    CreateAll(api_, 0, kManyPods,
              [](int i) { return Post(e2e::PathOf("pods", NumberedNamespace(i)), PodJson(i)); });
    json::Value spec = json::Object{{"hard", *QuotaOfSevenNames().At({"spec", "hard"})}};
    spec.Make({"namespaceSelector", "matchLabels", "team"}) = "a";
    api_.Create(e2e::ClusterQuotas::Path(), e2e::ClusterQuotas::Quota("q", spec));
  }

  void Run() {
    QuotaWatch watch(server_->Kubeconfig(), e2e::ClusterQuotas::Path());
    const auto began = steady_clock::now();
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = server_->Kubeconfig(),
                           .more_flags = {"--quota-apis=cluster", "--enforce=", "-v=0"}});
    watch.WaitForPods(kManyPods, kLong);
    const std::chrono::duration<double> start = steady_clock::now() - began;
    const double cpu = e2e::UsageOf(daemon_->pid()).cpu_seconds;
    std::printf(
        "\nOne ClusterQuota over %d namespaces with %d pods, on a real kube-apiserver; medians of "
        "%d:\n\n| | |\n|---|---|\n| start → counted, s | %.2f |\n| CPU until counted, s | %.2f |\n",
        kManyNamespaces, kManyPods, kTimes, start.count(), cpu);
    PrintDeletions(watch);
    PrintRelabelled(watch);
    std::printf("| resident MB | %s |\n",
                AtMost(static_cast<double>(e2e::UsageOf(daemon_->pid()).resident_bytes) / 1e6,
                       kMostMegabytes)
                    .c_str());
    std::fflush(stdout);
  }

 private:
  double Total(const std::string& metric) { return daemon_->Metric(metric).value_or(0); }
  static void Rest(int ms) {
    (void)e2e::PollUntil([] { return false; }, std::chrono::milliseconds(ms));
  }

  void PrintDeletions(QuotaWatch& watch) {
    Rest(4000);  // after a long list the daemon does not lower usage for three seconds
    std::vector<double> shown;
    std::vector<double> after;
    const double before = e2e::UsageOf(daemon_->pid()).cpu_seconds;
    const double answers = Total("rest_client_request_duration_seconds_count");
    const double waited = Total("rest_client_request_duration_seconds_sum");
    for (int i = 0; i < kTimes; ++i) {
      Rest(200);
      --pods_;
      const std::string pod =
          e2e::PathOf("pods", NumberedNamespace(pods_), "p" + std::to_string(pods_));
      const QuotaWatch::Times times = watch.TimeDelete(pod, pods_);
      shown.push_back(times.shown_ms);
      after.push_back(std::max(0.0, times.shown_ms - times.answered_ms));
    }
    const double cpu = (e2e::UsageOf(daemon_->pid()).cpu_seconds - before) * 1000 / kTimes;
    const double patch = 1000 * (Total("rest_client_request_duration_seconds_sum") - waited) /
                         (Total("rest_client_request_duration_seconds_count") - answers);
    std::printf(
        "| DELETE → `used`, ms | %.1f |\n| its answer → `used`, ms | %s |\n"
        "| of that the daemon's PATCH, answered after, on average, ms | %.1f |\n"
        "| CPU a deletion, ms | %.1f |\n",
        Median(shown), AtMost(Median(after), kMostShownAfterMs).c_str(), patch, cpu);
  }

  // Namespaces leave the quota, one after the other.
  void PrintRelabelled(QuotaWatch& watch) {
    std::vector<double> shown;
    for (int i = 0; i < kTimes; ++i) {
      Rest(200);
      pods_ -= kManyPods / kManyNamespaces;
      const auto began = steady_clock::now();
      api_.MergePatch(e2e::PathOf("namespaces", "", NumberedNamespace(i)),
                      e2e::Json(R"({"metadata":{"labels":{"team":"b"}}})"));
      watch.WaitForPods(pods_, kLong);
      shown.push_back(Millis(steady_clock::now() - began).count());
    }
    std::printf("| a namespace leaves → `used`, which waits for a second on purpose, ms | %.1f |\n",
                Median(shown));
  }

  std::unique_ptr<e2e::ApiServer> server_ = e2e::StartServer({.quota_plugin = true});
  e2e::Api api_{server_->Kubeconfig()};
  e2e::ClusterQuotas quotas_{api_};
  std::unique_ptr<e2e::Daemon> daemon_;
  int pods_ = kManyPods;
};

}  // namespace

void AskReach() {
  std::cerr << "reach: " << kManyNamespaces << " namespaces ...\n";
  ReachedNamespaces().Run();
}

}  // namespace bench
