#pragma once

// What goes wrong during a soak, by a seed. Each fault is over, and all is as it should be again,
// when Clear() returns.
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
  // `pause` keeps the load from sending while the server is replaced, and `resume` lets it go on.
  SoakFaults(SoakCluster& cluster, std::uint64_t seed, std::function<void()> pause,
             std::function<void()> resume);
  // Begins one and returns its name.
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
