// Creations under a quota that two replicas decide, each about half of the requests.

#include <cstdio>
#include <cstdlib>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

// Targets of two replicas: quota writes per 1 000 creations, and the rate relative to one replica.
constexpr double kMostWritesOfReplicas = 40;
constexpr double kLeastRateOfReplicas = 0.9;

void PrintReplicas(const std::vector<RateRow>& rows, const Size& size) {
  std::printf(
      "\n%zu clients create %d pods under one quota of seven names, behind a balancer that spreads "
      "the connections of the API server; medians of %d rounds:\n\n"
      "| decided by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | conflicts per 1 000 "
      "| webhook, CPU µs a review | API server, CPU µs a creation |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const RateRow& row : rows) {
    const Guard guard = row.contender->guard();
    const double writes = row.MedianOf(&Round::writes);
    std::printf("| %s | %.0f | %.1f | %.1f | %s | %.1f | %.0f | %.0f |\n", NameOf(guard).c_str(),
                row.MedianOf(&Round::rate), row.MedianOf(&Round::p50), row.MedianOf(&Round::p99),
                guard == Guard::kReplicas ? AtMost(writes, kMostWritesOfReplicas, 0).c_str()
                                          : Plain(writes, 0).c_str(),
                row.MedianOf(&Round::conflicts), row.MedianOf(&Round::webhook_cpu),
                row.MedianOf(&Round::server_cpu));
  }
}

void PrintRatiosOfReplicas(const std::vector<RateRow>& rows) {
  const RateRow& ours = rows.back();
  std::printf("\n| %s compared with | rate | p50 | p99 |\n|---|---|---|---|\n",
              NameOf(ours.contender->guard()).c_str());
  for (const RateRow& row : rows) {
    if (&row == &ours) continue;
    const double rate = MedianRatio(ours, row, &Round::rate);
    const bool judged = row.contender->guard() == Guard::kBalanced;
    std::printf("| %s | %s | %.2f | %.2f |\n", NameOf(row.contender->guard()).c_str(),
                judged ? AtLeast(rate, kLeastRateOfReplicas, 2).c_str() : Plain(rate, 2).c_str(),
                MedianRatio(ours, row, &Round::p50), MedianRatio(ours, row, &Round::p99));
  }
  std::fflush(stdout);
}

}  // namespace

void AskReplicas(const Size& size) {
  std::vector<Guard> guards{Guard::kBalanced, Guard::kReplicas};
  if (std::getenv("QCM_OLDER_DAEMON") != nullptr) {
    guards.insert(guards.begin() + 1, Guard::kOlderReplicas);
  }
  const std::vector<RateRow> rows = Compare("replicas", guards, size.rounds, size.creations);
  PrintReplicas(rows, size);
  PrintRatiosOfReplicas(rows);
}

}  // namespace bench
