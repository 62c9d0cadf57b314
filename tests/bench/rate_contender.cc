#include "tests/bench/rate_contender.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "tests/bench/filler.h"

namespace bench {

RateContender::RateContender(Guard guard)
    : server_(guard), load_(server_.Kubeconfig(), kRateClients) {
  if (!server_.has_quota()) return;
  first_version_ = server_.QuotaVersion();
  recorder_ = std::make_unique<e2e::WriteRecorder>(
      server_.Kubeconfig(), e2e::WriteRecorder::Collection{server_.QuotaCollection()},
      first_version_);
}

Round RateContender::Create(int creations) {
  SeeWrites();
  const int writes_before = Writes();
  const int all_before = recorder_ ? recorder_->AllWrites() : 0;
  const std::size_t texts_before = Texts().size();
  const double conflicts_before = Conflicts();
  const Micros webhook_before = server_.WebhookCpu();
  const Micros server_before = CpuOfProcess(server_.server_pid());
  int next = 0;
  const Tally tally = load_.SendAll([&]() -> client::ApiRequest {
    if (next == creations) return {.path = ""};
    const int index = next++;
    return {.verb = "POST",
            .path = server_.CollectionOfPod(index),
            .content_type = std::string(client::kJson),
            .body = PodJson(index)};
  });
  if (tally.Failed() > 0) {
    throw std::runtime_error(NameOf(guard()) + ": " + tally.failures.begin()->first);
  }
  const auto each = [&](Micros cpu) { return cpu.count() / creations; };
  Round round{.rate = tally.PerSecond(), .p50 = tally.Percentile(50), .p99 = tally.Percentile(99)};
  SeeWrites();
  round.writes = (Writes() - writes_before) * 1000.0 / creations;
  if (recorder_) round.all_writes = (recorder_->AllWrites() - all_before) * 1000.0 / creations;
  const std::vector<std::size_t> texts = Texts();
  const auto first = texts.begin() + static_cast<std::ptrdiff_t>(texts_before);
  if (first != texts.end()) {
    round.reservations = static_cast<double>(*std::max_element(first, texts.end()));
  }
  round.webhook_cpu = each(server_.WebhookCpu() - webhook_before);
  round.server_cpu = each(CpuOfProcess(server_.server_pid()) - server_before);
  round.client_cpu = each(tally.cpu);
  round.conflicts = (Conflicts() - conflicts_before) * 1000.0 / creations;
  server_.DeleteAllPods();
  return round;
}

void RateContender::SeeWrites() {
  if (!recorder_) return;
  const std::string version = server_.QuotaVersion();
  if (version != first_version_) recorder_->WaitSeen(GuardedServer::kQuota, version);
}

int RateContender::Writes() const {
  return recorder_ ? recorder_->Writes(GuardedServer::kQuota) : 0;
}

double RateContender::Conflicts() const {
  return BalancedDaemons(server_.guard()) > 0 ? server_.Metric("quota_admission_conflicts_total")
                                              : 0;
}

std::vector<std::size_t> RateContender::Texts() const {
  if (!recorder_) return {};
  return recorder_->ReservationSizes(GuardedServer::kQuota);
}

double RateRow::MedianOf(double Round::*value) const {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*value);
  return Median(std::move(values));
}

std::vector<RateRow> Compare(const char* what, const std::vector<Guard>& guards, int rounds,
                             int creations) {
  std::vector<RateRow> rows;
  for (const Guard guard : guards) {
    std::cerr << what << ": starting " << NameOf(guard) << " ...\n";
    rows.push_back({.contender = std::make_unique<RateContender>(guard), .rounds = {}});
  }
  for (RateRow& row : rows) row.contender->Create(creations);  // warms up
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      RateRow& row = rows[(i + static_cast<std::size_t>(round)) % rows.size()];
      row.rounds.push_back(row.contender->Create(creations));
      const Round& made = row.rounds.back();
      std::fprintf(stderr,
                   "%s: round %d: %4.0f/s p50 %5.1f p99 %5.1f, %3.0f writes, %3.0f us: %s\n", what,
                   round + 1, made.rate, made.p50, made.p99, made.writes, made.webhook_cpu,
                   NameOf(row.contender->guard()).c_str());
    }
  }
  return rows;
}

double MedianRatio(const RateRow& ours, const RateRow& other, double Round::*value) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.rounds.size(); ++i) {
    ratios.push_back(ours.rounds[i].*value / (other.rounds[i].*value));
  }
  return Median(std::move(ratios));
}

}  // namespace bench
