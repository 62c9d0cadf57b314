// Creations under a quota. All contenders run at the same time and are loaded one at a time, in an
// order that rotates with each round, so that other load on the machine affects all alike.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/guarded_server.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/write_recorder.h"

namespace bench {
namespace {

constexpr std::size_t kRateClients = 64;
// Of the daemon: quota writes per 1 000 creations, CPU time for a review, and the length of the
// reservations that a write leaves.
constexpr double kMostWrites = 100;
constexpr double kMostCpu = 150;
constexpr double kMostReservations = 4096;  // bytes
// The daemon's rate relative to the plugin's, and to that of the webhook that allows everything.
constexpr double kLeastRateOfPlugin = 0.9;
constexpr double kMostP99OfPlugin = 1.2;
constexpr double kLeastRateOfAllow = 1;

// One contender in one round.
struct Round {
  double rate = 0;
  double p50 = 0;
  double p99 = 0;
  double writes = 0;        // of the quota, per 1 000 creations
  double reservations = 0;  // the longest text of them, in bytes
  double webhook_cpu = 0;   // microseconds per creation, like the next two
  double server_cpu = 0;
  double client_cpu = 0;
};

class Contender {
 public:
  explicit Contender(Guard guard) : server_(guard), load_(server_.Kubeconfig(), kRateClients) {
    if (!server_.has_quota()) return;
    first_version_ = server_.QuotaVersion();
    recorder_ = std::make_unique<e2e::WriteRecorder>(server_.Kubeconfig(),
                                                     GuardedServer::kNamespace, first_version_);
  }

  [[nodiscard]] Guard guard() const { return server_.guard(); }

  // Creates so many pods, and deletes them again.
  Round Create(int creations) {
    const int writes_before = Writes();
    const std::size_t texts_before = Texts().size();
    const Micros webhook_before = CpuOfProcess(server_.webhook_pid());
    const Micros server_before = CpuOfProcess(server_.server_pid());
    int next = 0;
    const Tally tally = load_.SendAll([&]() -> client::ApiRequest {
      if (next == creations) return {.path = ""};
      return {.verb = "POST",
              .path = server_.PodPath(),
              .content_type = std::string(client::kJson),
              .body = PodJson(next++)};
    });
    if (tally.Failed() > 0) {
      throw std::runtime_error(NameOf(guard()) + ": " + tally.failures.begin()->first);
    }
    const auto each = [&](Micros cpu) { return cpu.count() / creations; };
    Round round{
        .rate = tally.PerSecond(), .p50 = tally.Percentile(50), .p99 = tally.Percentile(99)};
    round.writes = (Writes() - writes_before) * 1000.0 / creations;
    const std::vector<std::size_t> texts = Texts();
    const auto first = texts.begin() + static_cast<std::ptrdiff_t>(texts_before);
    if (first != texts.end()) {
      round.reservations = static_cast<double>(*std::max_element(first, texts.end()));
    }
    round.webhook_cpu = each(CpuOfProcess(server_.webhook_pid()) - webhook_before);
    round.server_cpu = each(CpuOfProcess(server_.server_pid()) - server_before);
    round.client_cpu = each(tally.cpu);
    server_.DeleteAllPods();
    return round;
  }

 private:
  int Writes() {
    if (!recorder_) return 0;
    const std::string version = server_.QuotaVersion();
    if (version == first_version_) return 0;
    recorder_->WaitSeen(GuardedServer::kQuota, version);
    return recorder_->Writes(GuardedServer::kQuota);
  }

  [[nodiscard]] std::vector<std::size_t> Texts() const {
    if (!recorder_) return {};
    return recorder_->ReservationSizes(GuardedServer::kQuota);
  }

  GuardedServer server_;
  Load load_;
  std::string first_version_;  // of the quota
  std::unique_ptr<e2e::WriteRecorder> recorder_;
};

struct Row {
  std::unique_ptr<Contender> contender;
  std::vector<Round> rounds;

  [[nodiscard]] double MedianOf(double Round::*value) const {
    std::vector<double> values;
    for (const Round& round : rounds) values.push_back(round.*value);
    return Median(std::move(values));
  }
};

// Only the daemon has targets.
std::string Judged(double value, double target, bool ours) {
  return ours ? AtMost(value, target, 0) : std::to_string(std::lround(value));
}

void PrintRows(const std::vector<Row>& rows, const Size& size) {
  std::printf(
      "\n%zu clients create %d pods under one quota of seven names; medians of %d rounds:\n\n"
      "| guarded by | creations/s | p50 ms | p99 ms | quota writes per 1 000 | longest "
      "reservations, bytes | webhook, CPU µs a review | API server, CPU µs a creation | clients, "
      "CPU "
      "µs |\n|---|---|---|---|---|---|---|---|---|\n",
      kRateClients, size.creations, size.rounds);
  for (const Row& row : rows) {
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

// The median of ours divided by the other's in the same round.
double MedianRatio(const Row& ours, const Row& other, double Round::*value) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.rounds.size(); ++i) {
    ratios.push_back(ours.rounds[i].*value / (other.rounds[i].*value));
  }
  return Median(std::move(ratios));
}

std::string Plain(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ratio);
  return text;
}
std::string RateText(Guard beside, double ratio) {
  if (beside == Guard::kBuiltin) return AtLeast(ratio, kLeastRateOfPlugin, 2);
  return beside == Guard::kAllowAll ? AtLeast(ratio, kLeastRateOfAllow, 2) : Plain(ratio);
}
std::string P99Text(Guard beside, double ratio) {
  return beside == Guard::kBuiltin ? AtMost(ratio, kMostP99OfPlugin, 2) : Plain(ratio);
}

void PrintRatios(const std::vector<Row>& rows) {
  const Row& ours = rows.back();
  std::printf("\n| %s beside | rate | p50 | p99 |\n|---|---|---|---|\n",
              NameOf(ours.contender->guard()).c_str());
  for (const Row& row : rows) {
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
  std::vector<Row> rows;
  for (const Guard guard :
       {Guard::kNoQuota, Guard::kBuiltin, Guard::kAllowAll, Guard::kDaemonOfJson, Guard::kDaemon}) {
    std::cerr << "rate: starting " << NameOf(guard) << " ...\n";
    rows.push_back({.contender = std::make_unique<Contender>(guard), .rounds = {}});
  }
  for (Row& row : rows) row.contender->Create(size.creations);  // warms up
  for (int round = 0; round < size.rounds; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[(i + static_cast<std::size_t>(round)) % rows.size()];
      row.rounds.push_back(row.contender->Create(size.creations));
      const Round& made = row.rounds.back();
      std::fprintf(stderr,
                   "rate: round %d: %4.0f/s p50 %5.1f p99 %5.1f, %3.0f writes, %3.0f us: %s\n",
                   round + 1, made.rate, made.p50, made.p99, made.writes, made.webhook_cpu,
                   NameOf(row.contender->guard()).c_str());
    }
  }
  PrintRows(rows, size);
  PrintRatios(rows);
}

}  // namespace bench
