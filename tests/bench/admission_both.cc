// Creations under a ResourceQuota and a ClusterQuota, beside creations under the ResourceQuota
// alone.

#include <cstdio>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

// Targets, relative to the ResourceQuota alone.
constexpr double kLeastRateOfBoth = 0.9;
constexpr double kMostCpuOfBoth = 1.3;

}  // namespace

void AskBoth(const Size& size) {
  const std::vector<RateRow> rows =
      Compare("both", {Guard::kDaemon, Guard::kBoth}, size.rounds, size.creations);
  std::printf(
      "\n%zu clients create %d pods in one namespace under one ResourceQuota, alone or beside a "
      "ClusterQuota, of seven names each; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | writes of the ResourceQuota per 1 000 | "
      "webhook, CPU µs a creation | API server, CPU µs a creation |\n"
      "|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const RateRow& row : rows) {
    std::printf("| %s | %.0f | %.1f | %.1f | %.0f | %.0f | %.0f |\n",
                NameOf(row.contender->guard()).c_str(), row.MedianOf(&Round::rate),
                row.MedianOf(&Round::p50), row.MedianOf(&Round::p99), row.MedianOf(&Round::writes),
                row.MedianOf(&Round::webhook_cpu), row.MedianOf(&Round::server_cpu));
  }
  const auto ratio = [&](double Round::*value) {
    return MedianRatio(rows.back(), rows.front(), value);
  };
  std::printf(
      "\n| both beside one alone | rate | p99 | webhook, CPU | API server, CPU |\n"
      "|---|---|---|---|---|\n| | %s | %.2f | %s | %.2f |\n",
      AtLeast(ratio(&Round::rate), kLeastRateOfBoth, 2).c_str(), ratio(&Round::p99),
      AtMost(ratio(&Round::webhook_cpu), kMostCpuOfBoth, 2).c_str(), ratio(&Round::server_cpu));
  std::fflush(stdout);
}

}  // namespace bench
