#pragma once

// What all schedules are drawn with: dice, pauses, replicas, faults. Kinds of schedules draw their
// own actions on top. The order of draws is what a seed stands for.

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
  // How many namespaces and names there are, how much goes wrong, and how late.
  void DrawManner();
  // Mostly at once after another, now and then after a pause in which charges end.
  int Pause();
  void Add(std::string what, std::map<std::string, int> numbers) {
    Add(Pause(), std::move(what), std::move(numbers));
  }
  void Add(int after, std::string what, std::map<std::string, int> numbers) {
    schedule_.actions.push_back({std::move(what), after, std::move(numbers)});
  }
  // Who is asked about a write, how often, and when it is stored.
  std::map<std::string, int> WriteOf();
  // Milliseconds from the last answer to the store; -1: never.
  int Store();
  void Fault();
  // At the end: of every other seed the replicas reserve for those to come; of every fourth many
  // are created in a short time, far from the limits, so that they do it often.
  void MakeCrowded();
  // After that, so that what was drawn before stays as it was: answers of 5xx to writes that were
  // made; of every third seed slow webhooks of others; of every fifth a server that is put back; of
  // every seventh such answers where they hurt.
  void MakeHarsh();
  void MakeSilent();

  void AddErrors();
  void AddAhead();
  // A limit for what AddOwn() adds.
  virtual void AddOwnQuota(int number, int room);
  void AddOwn(int after, int name, int replica, int store);
  void AddWebhooks();
  void AddRestore();
  void Insert(std::size_t at, Action action) {
    schedule_.actions.insert(schedule_.actions.begin() + static_cast<std::ptrdiff_t>(at),
                             std::move(action));
  }

  static constexpr int kOwnNamespace = 5;  // nothing else is there
  // Last of all: some deletions only begin, a finalizer keeps the object.
  void KeepSome();

  std::mt19937_64 random_;
  Schedule schedule_;
  int namespaces_ = 1;
  int names_ = 2;
  int fault_share_ = 0;
  bool late_stores_ = false;
  bool late_calls_ = false;
};

}  // namespace simulation
