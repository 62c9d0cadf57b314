#pragma once

// One way of enforcing quotas under the load of many clients that create pods, and the measurements
// of each round. One thread; calls block.

#include <memory>
#include <vector>

#include "tests/bench/guarded_server.h"
#include "tests/e2e/harness/write_recorder.h"

namespace bench {

inline constexpr std::size_t kRateClients = 64;

struct Round {
  double rate = 0;
  double p50 = 0;
  double p99 = 0;
  double writes = 0;        // of the quota, or of the root of the tree, per 1 000 creations
  double all_writes = 0;    // of all quotas
  double conflicts = 0;     // per 1 000 creations; only of daemons behind a balancer
  double reservations = 0;  // the longest text of them, in bytes
  double webhook_cpu = 0;   // microseconds per creation, like the next two
  double server_cpu = 0;
  double client_cpu = 0;
};

class RateContender {
 public:
  explicit RateContender(Guard guard);

  [[nodiscard]] Guard guard() const { return server_.guard(); }
  [[nodiscard]] GuardedServer& server() { return server_; }
  // Creates so many pods, and deletes them again.
  Round Create(int creations);

 private:
  // Waits until the recorder has seen all writes so far.
  void SeeWrites();
  [[nodiscard]] int Writes() const;
  [[nodiscard]] double Conflicts() const;
  [[nodiscard]] std::vector<std::size_t> Texts() const;

  GuardedServer server_;
  Load load_;
  std::string first_version_;  // of the quota
  std::unique_ptr<e2e::WriteRecorder> recorder_;
};

struct RateRow {
  std::unique_ptr<RateContender> contender;
  std::vector<Round> rounds;

  [[nodiscard]] double MedianOf(double Round::*value) const;
};

// Starts the contenders and loads one at a time, in an order that rotates with each round, so that
// other load on the machine affects all alike. `what` stands before the progress.
std::vector<RateRow> Compare(const char* what, const std::vector<Guard>& guards, int rounds,
                             int creations);

// The median of ours divided by the other's in the same round.
double MedianRatio(const RateRow& ours, const RateRow& other, double Round::*value);

}  // namespace bench
