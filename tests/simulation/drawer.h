#pragma once

// Draws the parts that all schedules have: pauses, replicas, faults. Each kind of schedule adds its
// own actions. A change of the order of draws changes the schedule of each seed.

#include <random>

#include "tests/simulation/schedule.h"

namespace simulation {

class Drawer {
 public:
  virtual ~Drawer() = default;
  explicit Drawer(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 1) {
    schedule_.seed = seed;
  }

 protected:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool Percent(int share) { return Below(100) < share; }
  void DrawReplicas();
  // The number of namespaces and names, the share of faults, and the delays.
  void DrawManner();
  // Mostly short; sometimes so long that charges expire.
  int Pause();
  void Add(std::string what, std::map<std::string, int> numbers) {
    Add(Pause(), std::move(what), std::move(numbers));
  }
  void Add(int after, std::string what, std::map<std::string, int> numbers) {
    schedule_.actions.push_back({std::move(what), after, std::move(numbers)});
  }
  // The replicas that are called for a write, the number of calls, and when it is stored.
  std::map<std::string, int> WriteOf();
  // Milliseconds from the last answer to the store; -1: never.
  int Store();
  void Fault();
  // Called at the end. In every other seed the replicas reserve in advance, in short or in long
  // bursts. In every fourth seed many objects are created in a short time, far from the limits, so
  // that replicas do it often.
  void MakeCrowded();
  // Called after that, so that the earlier draws stay the same. Adds 5xx answers to writes that
  // were made; in every third seed slow webhooks of others; in every fifth a restored server; in
  // every seventh 5xx answers at the worst moment.
  void MakeHarsh();
  void MakeSilent();

  void AddErrors();
  void AddAhead();
  // Adds a quota that limits the objects of AddOwn().
  virtual void AddOwnQuota(int number, int room);
  void AddOwn(int after, int name, int replica, int store);
  void AddWebhooks();
  void AddRestore();
  void Insert(std::size_t at, Action action) {
    schedule_.actions.insert(schedule_.actions.begin() + static_cast<std::ptrdiff_t>(at),
                             std::move(action));
  }

  static constexpr int kOwnNamespace = 5;  // other draws do not use it
  // Called last. A finalizer keeps some of the deleted objects.
  void KeepSome();
  // Called after that, with other random numbers, so that all other draws stay the same. In every
  // third seed some creations are of names that exist.
  void AddDuplicates();

  std::mt19937_64 random_;
  Schedule schedule_;
  int namespaces_ = 1;
  int names_ = 2;
  int fault_share_ = 0;
  bool late_stores_ = false;
  bool late_calls_ = false;
};

}  // namespace simulation
