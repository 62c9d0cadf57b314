// One ClusterQuota over 100 namespaces, beside one ResourceQuota of one namespace that the built-in
// plugin decides.

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/quota_watch.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

// Targets of ClusterQuotas, relative to the plugin.
constexpr double kLeastRate = 0.95;
constexpr double kMostP99 = 1.2;
constexpr double kMostWritesOfCluster = 20;  // per 1 000 creations
constexpr double kMostText = 65536;          // bytes of reservations
constexpr int kLimitOfPods = 200;
constexpr int kTries = 400;
constexpr int kDeletions = 31;
constexpr double kMostShownMs = 5;  // after the answer to the deletion

void PrintRates(const std::vector<RateRow>& rows, const Size& size) {
  std::printf(
      "\n%zu clients create %d pods, under one ResourceQuota of one namespace or under a "
      "ClusterQuota, of seven names each; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | longest "
      "reservations, bytes | webhook, CPU µs a review | API server, CPU µs a creation |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const RateRow& row : rows) {
    const Guard guard = row.contender->guard();
    const bool ours = OfClusterQuotas(guard);
    const double writes = row.MedianOf(&Round::writes);
    const double text = row.MedianOf(&Round::reservations);
    std::printf(
        "| %s | %.0f | %.1f | %.1f | %s | %s | %s | %.0f |\n", NameOf(guard).c_str(),
        row.MedianOf(&Round::rate), row.MedianOf(&Round::p50), row.MedianOf(&Round::p99),
        ours                       ? AtMost(writes, kMostWritesOfCluster, 0).c_str()
        : guard == Guard::kBuiltin ? Plain(writes, 0).c_str()
                                   : "–",
        ours ? AtMost(text, kMostText, 0).c_str() : "–",
        guard == Guard::kBuiltin ? "–" : Plain(row.MedianOf(&Round::webhook_cpu), 0).c_str(),
        row.MedianOf(&Round::server_cpu));
  }
  const RateRow& ours = rows.back();
  std::printf("\n| %s beside | rate | p50 | p99 |\n|---|---|---|---|\n",
              NameOf(ours.contender->guard()).c_str());
  for (const RateRow& row : rows) {
    if (&row == &ours) continue;
    const bool judged = row.contender->guard() == Guard::kBuiltin;
    const double rate = MedianRatio(ours, row, &Round::rate);
    const double p99 = MedianRatio(ours, row, &Round::p99);
    std::printf("| %s | %s | %.2f | %s |\n", NameOf(row.contender->guard()).c_str(),
                (judged ? AtLeast(rate, kLeastRate, 2) : Plain(rate, 2)).c_str(),
                MedianRatio(ours, row, &Round::p50),
                (judged ? AtMost(p99, kMostP99, 2) : Plain(p99, 2)).c_str());
  }
  std::fflush(stdout);
}

// Single deletions, each on a quiet server.
std::vector<QuotaWatch::Times> DeleteSingly(GuardedServer& server) {
  CreateAll(server.api(), 0, kDeletions, [&](int index) {
    return client::ApiRequest{.verb = "POST",
                              .path = server.CollectionOfPod(index),
                              .content_type = std::string(client::kJson),
                              .body = PodJson(index)};
  });
  QuotaWatch watch(server.Kubeconfig(), server.QuotaCollection());
  watch.WaitForPods(kDeletions, std::chrono::seconds(60));
  // Waits until no reservation is left.
  (void)e2e::PollUntil([] { return false; }, std::chrono::seconds(3));
  std::vector<QuotaWatch::Times> times;
  for (int left = kDeletions; left > 0; --left) {
    (void)e2e::PollUntil([] { return false; }, std::chrono::milliseconds(200));
    times.push_back(watch.TimeDelete(server.PathOfPod(left - 1), left - 1));
  }
  return times;
}

void PrintDeletions(const std::vector<RateRow>& rows) {
  std::printf(
      "\nSingle deletions, medians of %d:\n\n"
      "| guarded by | DELETE → its answer, ms | DELETE → `used`, ms | answer → `used`, ms |\n"
      "|---|---|---|---|\n",
      kDeletions);
  for (const RateRow& row : rows) {
    const Guard guard = row.contender->guard();
    if (!row.contender->server().has_quota()) continue;
    std::cerr << "cluster: deletions, " << NameOf(guard) << " ...\n";
    std::vector<double> answered;
    std::vector<double> shown;
    std::vector<double> after;
    for (const QuotaWatch::Times& times : DeleteSingly(row.contender->server())) {
      answered.push_back(times.answered_ms);
      shown.push_back(times.shown_ms);
      after.push_back(std::max(0.0, times.shown_ms - times.answered_ms));
    }
    const bool ours = OfClusterQuotas(guard);
    std::printf("| %s | %.1f | %.1f | %s |\n", NameOf(guard).c_str(), Median(answered),
                Median(shown),
                (ours ? AtMost(Median(after), kMostShownMs) : Plain(Median(after))).c_str());
    std::fflush(stdout);
  }
}

void PrintFill(Guard guard) {
  std::cerr << "cluster: limit, " << NameOf(guard) << " ...\n";
  GuardedServer server(guard, {{"pods", std::to_string(kLimitOfPods)}});
  Load load(server.Kubeconfig(), kRateClients);
  int next = 0;
  const Tally tally = load.SendAll([&]() -> client::ApiRequest {
    if (next == kTries) return {.path = ""};
    const int index = next++;
    return {.verb = "POST",
            .path = server.CollectionOfPod(index),
            .content_type = std::string(client::kJson),
            .body = PodJson(index)};
  });
  (void)server.SecondsUntilUsed(kLimitOfPods, std::chrono::seconds(15));
  const auto refused = tally.failures.find("exceeded quota");
  const int by_quota = refused == tally.failures.end() ? 0 : refused->second;
  const bool missed = tally.succeeded != kLimitOfPods || by_quota != kTries - kLimitOfPods;
  std::printf("| %s | %d%s | %d | %d | %s |\n", NameOf(guard).c_str(), tally.succeeded,
              missed ? ", missed" : "", by_quota, tally.Failed() - by_quota,
              server.UsedPods().c_str());
  std::fflush(stdout);
}

}  // namespace

void AskCluster(const Size& size) {
  {
    const std::vector<RateRow> rows =
        Compare("cluster", {Guard::kBuiltin, Guard::kAllowAll, Guard::kClusterQuota}, size.rounds,
                size.creations);
    PrintRates(rows, size);
    PrintDeletions(rows);
  }
  std::printf(
      "\n%zu clients try to create %d pods under a limit of %d:\n\n"
      "| guarded by | created (%d) | refused by the quota | failed otherwise | `used` |\n"
      "|---|---|---|---|---|\n",
      kRateClients, kTries, kLimitOfPods, kLimitOfPods);
  for (const Guard guard : {Guard::kBuiltin, Guard::kClusterQuota}) PrintFill(guard);
}

}  // namespace bench
