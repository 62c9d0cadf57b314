#pragma once

// The faults of a soak, chosen by a seed. When Clear() returns, each has ended and everything is as
// before.
//
// One thread.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/soak_cluster.h"

namespace bench {

class SoakFaults {
 public:
  // `pause` stops the load while the server is replaced, and `resume` continues it.
  SoakFaults(SoakCluster& cluster, std::uint64_t seed, std::function<void()> pause,
             std::function<void()> resume);
  // Begins a fault and returns its name.
  std::string Next();
  void Clear();

 private:
  struct Fault {
    std::string name;
    int weight;
    std::function<void()> begin;
    std::function<void()> end;
  };
  void AddOfProcesses();
  void AddOfConnections();
  void AddOfAnswers();

  SoakCluster& cluster_;
  std::mt19937_64 random_;
  std::function<void()> pause_;
  std::function<void()> resume_;
  std::vector<Fault> faults_;
  std::vector<std::function<void()>> ends_;  // of those under way
};

}  // namespace bench
