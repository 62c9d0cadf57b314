// Creations below five of 1 000 ClusterQuotas, beside creations below one.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr double kMostWritesOfTop = 20;  // per 1 000 creations

// The start of a daemon when all statuses are right.
struct Started {
  double seconds = 0;  // until each quota was recounted once
  double cpu = 0;      // seconds, until then
  double megabytes = 0;
};

Started StartAgain(GuardedServer& server) {
  server.KillCounter();
  const auto began = steady_clock::now();
  server.StartCounter();
  const double quotas = server.guard() == Guard::kTree ? GuardedServer::kQuotas : 1;
  const auto counted = [&] { return server.Metric("quota_reconcile_total") >= quotas; };
  if (!e2e::PollUntil(counted, std::chrono::minutes(1), std::chrono::milliseconds(20))) {
    throw std::runtime_error("the quotas were never counted");
  }
  Started started;
  started.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  const auto usage = e2e::UsageOf(server.webhook_pid());
  started.cpu = usage.cpu_seconds;
  started.megabytes = static_cast<double>(usage.resident_bytes) / 1e6;
  return started;
}

void PrintTreeRates(const std::vector<RateRow>& rows, const Size& size) {
  std::printf(
      "\n%zu clients create %d pods in 100 namespaces; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | writes of the topmost quota per 1 000 | "
      "writes of all quotas per 1 000 | webhook, CPU µs a review | API server, CPU µs a creation "
      "|\n|---|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const RateRow& row : rows) {
    std::printf("| %s | %.0f | %.1f | %.1f | %s | %.0f | %.0f | %.0f |\n",
                NameOf(row.contender->guard()).c_str(), row.MedianOf(&Round::rate),
                row.MedianOf(&Round::p50), row.MedianOf(&Round::p99),
                AtMost(row.MedianOf(&Round::writes), kMostWritesOfTop, 0).c_str(),
                row.MedianOf(&Round::all_writes), row.MedianOf(&Round::webhook_cpu),
                row.MedianOf(&Round::server_cpu));
  }
  std::printf("\nOf the rate under one ClusterQuota it is %.2f, of the p99 %.2f.\n",
              MedianRatio(rows.back(), rows.front(), &Round::rate),
              MedianRatio(rows.back(), rows.front(), &Round::p99));
  std::fflush(stdout);
}

void PrintStarts(const std::vector<RateRow>& rows) {
  std::printf(
      "\nThe daemon started again, with right statuses:\n\n"
      "| guarded by | start → all counted, s | CPU until then, s | resident MB |\n"
      "|---|---|---|---|\n");
  for (const RateRow& row : rows) {
    std::cerr << "tree: start, " << NameOf(row.contender->guard()) << " ...\n";
    const Started started = StartAgain(row.contender->server());
    std::printf("| %s | %.2f | %.2f | %.1f |\n", NameOf(row.contender->guard()).c_str(),
                started.seconds, started.cpu, started.megabytes);
    std::fflush(stdout);
  }
}

}  // namespace

void AskTree(const Size& size) {
  const std::vector<RateRow> rows =
      Compare("tree", {Guard::kClusterQuota, Guard::kTree}, size.rounds, size.creations);
  PrintTreeRates(rows, size);
  PrintStarts(rows);
}

}  // namespace bench
