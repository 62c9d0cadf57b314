#pragma once

// Electors compete in virtual time: clocks differ in time and rate, processes stop for a while,
// requests and answers are late or lost. Compiled apart from the test cases, because they are not
// optimised.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "pkg/leader/elector.h"

namespace leader_simulation {

using Time = std::chrono::nanoseconds;  // true time since the start

struct Faults {
  double slowest_clock = 0.85;
  double fastest_clock = 1.15;
  double lost_request = 0.05;
  double lost_answer = 0.05;
  double slow = 0.2;  // the share of slow requests and answers
  double stop = 0.05;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, int processes, const leader::ElectorOptions& options,
             Faults faults);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs until `end`; returns the largest number of leaders at one time.
  int RunUntil(Time end);
  void StopFaults() { faults_ = {.lost_request = 0, .lost_answer = 0, .slow = 0, .stop = 0}; }
  [[nodiscard]] int Leaders() const;
  [[nodiscard]] std::int64_t transitions() const {
    return server_.lease ? server_.lease->transitions : 0;
  }
  // A process that lost the lease ends and starts again.
  [[nodiscard]] int restarts() const { return restarts_; }

 private:
  struct Process;
  // The lease on the server.
  struct Server {
    std::optional<leader::LeaseRecord> lease;
    std::int64_t version = 0;
  };

  double Uniform(double from, double to);
  bool Happens(double probability) { return Uniform(0, 1) < probability; }
  Time Milliseconds(double from, double to);
  // How long a request or an answer takes.
  Time Way();

  void Add(leader::ElectorOptions options);
  void At(Time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }
  // Like At(), but a stopped process does nothing.
  void In(std::size_t index, Time when, std::function<void()> what);
  void Continue(std::size_t index);
  void Ask(std::size_t index, const leader::Step& step);
  void Serve(std::size_t index, int exchange, const leader::Step& step, std::int64_t version,
             Time returns, bool answered);
  void Take(std::size_t index, const Server& answer, bool write, bool done);
  // The answer or the deadline, whichever is first.
  void Answer(std::size_t index, int exchange, const std::function<void()>& take);

  std::mt19937_64 random_;
  Faults faults_;
  Time now_{};
  Server server_;
  std::vector<std::shared_ptr<Process>> processes_;
  std::multimap<Time, std::function<void()>> events_;
  int restarts_ = 0;
};

}  // namespace leader_simulation
