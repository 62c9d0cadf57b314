// Creations under a ClusterQuota of names of a UsageDefinition, beside creations under one of the
// names of Kubernetes that say the same.

#include <cstdio>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

// Targets, relative to the names of Kubernetes.
constexpr double kLeastRateOfDefined = 0.95;
constexpr double kMostCpuOfDefined = 1.2;

}  // namespace

void AskDefined(const Size& size) {
  const std::vector<RateRow> rows =
      Compare("defined", {Guard::kClusterQuota, Guard::kDefined}, size.rounds, size.creations);
  std::printf(
      "\n%zu clients create %d pods in 100 namespaces under one ClusterQuota of seven names; "
      "medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | webhook, CPU µs a "
      "review | API server, CPU µs a creation |\n"
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
      "\n| defined names beside those of Kubernetes | rate | p99 | webhook, CPU | API server, CPU "
      "|\n|---|---|---|---|---|\n| | %s | %.2f | %s | %.2f |\n",
      AtLeast(ratio(&Round::rate), kLeastRateOfDefined, 2).c_str(), ratio(&Round::p99),
      AtMost(ratio(&Round::webhook_cpu), kMostCpuOfDefined, 2).c_str(), ratio(&Round::server_cpu));
  std::fflush(stdout);
}

}  // namespace bench
