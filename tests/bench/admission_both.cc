// What a second way of limiting the same pods costs: a ClusterQuota beside the ResourceQuota, or
// names of a UsageDefinition in place of those of Kubernetes.

#include <cstdio>
#include <string>

#include "tests/bench/admission_questions.h"
#include "tests/bench/rate_contender.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

// Two guards, of which the second one is compared with the first one.
struct Pair {
  const char* name;
  std::vector<Guard> guards;
  std::string where;     // after "clients create so many pods"
  std::string compares;  // the heading of the ratios
  double least_rate;
  double most_cpu;
};

void Ask(const Pair& pair, const Size& size) {
  const std::vector<RateRow> rows = Compare(pair.name, pair.guards, size.rounds, size.creations);
  std::printf(
      "\n%zu clients create %d pods %s; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | webhook, CPU µs a "
      "creation | API server, CPU µs a creation |\n"
      "|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, pair.where.c_str(), size.rounds);
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
      "\n| %s | rate | p99 | webhook, CPU | API server, CPU |\n"
      "|---|---|---|---|---|\n| | %s | %.2f | %s | %.2f |\n",
      pair.compares.c_str(), AtLeast(ratio(&Round::rate), pair.least_rate, 2).c_str(),
      ratio(&Round::p99), AtMost(ratio(&Round::webhook_cpu), pair.most_cpu, 2).c_str(),
      ratio(&Round::server_cpu));
  std::fflush(stdout);
}

}  // namespace

void AskBoth(const Size& size) {
  Ask({.name = "both",
       .guards = {Guard::kDaemon, Guard::kBoth},
       .where =
           "in one namespace under one ResourceQuota, alone or beside a ClusterQuota, of seven "
           "names each",
       .compares = "both beside one alone",
       .least_rate = 0.9,
       .most_cpu = 1.3},
      size);
}

void AskDefined(const Size& size) {
  Ask({.name = "defined",
       .guards = {Guard::kClusterQuota, Guard::kDefined},
       .where = "in 100 namespaces under one ClusterQuota of seven names",
       .compares = "names of a definition beside those of Kubernetes",
       .least_rate = 0.95,
       .most_cpu = 1.2},
      size);
}

}  // namespace bench
