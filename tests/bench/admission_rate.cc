// Creations under a quota, with each way of guarding it.

#include <cstdio>
#include <cstdlib>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

// Targets of the daemon: quota writes per 1 000 creations, CPU time for a review, and the length of
// the reservations that a write leaves.
constexpr double kMostWrites = 20;
constexpr double kMostCpu = 150;
constexpr double kMostReservations = 4096;  // bytes
// The daemon's rate relative to the plugin's, and to that of the webhook that allows everything.
constexpr double kLeastRateOfPlugin = 0.9;
constexpr double kMostP99OfPlugin = 1.2;
constexpr double kLeastRateOfAllow = 1;

// Only the daemon has targets.
std::string Judged(double value, double target, bool ours) {
  return ours ? AtMost(value, target, 0) : Plain(value, 0);
}

void PrintRows(const std::vector<RateRow>& rows, const Size& size) {
  std::printf(
      "\n%zu clients create %d pods under one quota of seven names; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | longest "
      "reservations, bytes | webhook, CPU µs a review | API server, CPU µs a creation | clients, "
      "CPU "
      "µs |\n|---|---|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const RateRow& row : rows) {
    std::printf("| %s | %.0f | %.1f | %.1f |", NameOf(row.contender->guard()).c_str(),
                row.MedianOf(&Round::rate), row.MedianOf(&Round::p50), row.MedianOf(&Round::p99));
    const Guard guard = row.contender->guard();
    const bool charges = guard == Guard::kBuiltin || IsOneDaemon(guard);
    const bool is_called = guard == Guard::kAllowAll || IsOneDaemon(guard);
    const bool ours = guard == Guard::kDaemon;
    std::printf(
        " %s | %s | %s |",
        charges ? Judged(row.MedianOf(&Round::writes), kMostWrites, ours).c_str() : "–",
        IsOneDaemon(guard)
            ? Judged(row.MedianOf(&Round::reservations), kMostReservations, ours).c_str()
            : "–",
        is_called ? Judged(row.MedianOf(&Round::webhook_cpu), kMostCpu, ours).c_str() : "–");
    std::printf(" %.0f | %.0f |\n", row.MedianOf(&Round::server_cpu),
                row.MedianOf(&Round::client_cpu));
  }
}

std::string RateText(Guard beside, double ratio) {
  if (beside == Guard::kBuiltin) return AtLeast(ratio, kLeastRateOfPlugin, 2);
  return beside == Guard::kAllowAll ? AtLeast(ratio, kLeastRateOfAllow, 2) : Plain(ratio, 2);
}
std::string P99Text(Guard beside, double ratio) {
  return beside == Guard::kBuiltin ? AtMost(ratio, kMostP99OfPlugin, 2) : Plain(ratio, 2);
}

void PrintRatios(const std::vector<RateRow>& rows) {
  const RateRow& ours = rows.back();
  std::printf("\n| %s compared with | rate | p50 | p99 |\n|---|---|---|---|\n",
              NameOf(ours.contender->guard()).c_str());
  for (const RateRow& row : rows) {
    if (&row == &ours) continue;
    const Guard guard = row.contender->guard();
    std::printf("| %s | %s | %.2f | %s |\n", NameOf(guard).c_str(),
                RateText(guard, MedianRatio(ours, row, &Round::rate)).c_str(),
                MedianRatio(ours, row, &Round::p50),
                P99Text(guard, MedianRatio(ours, row, &Round::p99)).c_str());
  }
  std::fflush(stdout);
}

}  // namespace

void AskRate(const Size& size) {
  std::vector<Guard> guards{Guard::kNoQuota, Guard::kBuiltin, Guard::kAllowAll,
                            Guard::kDaemonOfJson, Guard::kDaemon};
  if (std::getenv("QCM_OLDER_DAEMON") != nullptr) {
    guards = {Guard::kBuiltin, Guard::kOlder, Guard::kDaemon};
  }
  const std::vector<RateRow> rows = Compare("rate", guards, size.rounds, size.creations);
  PrintRows(rows, size);
  PrintRatios(rows);
}

}  // namespace bench
