// Schedules drawn at random: some calm with crowds of writes, some full of faults, so that each
// kind of trouble is met both alone and together with others.

#include <random>

#include "tests/simulation/schedule.h"

namespace simulation {
namespace {

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 1) {
    schedule_.seed = seed;
  }

  Schedule Draw() {
    DrawReplicas();
    namespaces_ = 1 + Below(2);
    names_ = 2 + Below(5);
    fault_share_ = Below(3) == 0 ? 0 : 5 + Below(30);
    late_stores_ = Below(2) == 0;
    late_calls_ = Below(2) == 0;
    for (int i = 0; i < 1 + Below(3); ++i) PutQuota(0);
    const int actions = 20 + Below(60);
    for (int i = 0; i < actions; ++i) Next();
    return std::move(schedule_);
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool Percent(int share) { return Below(100) < share; }

  void DrawReplicas() {
    const int replicas = 1 + Below(3);
    const bool differ = Percent(50);
    for (int i = 0; i < replicas; ++i) {
      ClockOf clock;
      if (differ) clock = {.ahead_seconds = Below(100'000), .rate_percent = 90 + 5 * Below(5)};
      schedule_.clocks.push_back(clock);
    }
  }

  // Mostly at once after another, now and then after a pause in which charges end.
  int Pause() {
    if (Percent(40)) return Below(8);
    if (Percent(70)) return Below(400);
    return Percent(80) ? Below(3'000) : Below(15'000);
  }

  void Add(std::string what, std::map<std::string, int> numbers) {
    Add(Pause(), std::move(what), std::move(numbers));
  }
  void Add(int after, std::string what, std::map<std::string, int> numbers) {
    schedule_.actions.push_back({std::move(what), after, std::move(numbers)});
  }

  void Next() {
    if (Percent(fault_share_)) return Fault();
    const int dice = Below(100);
    if (dice < 60) return Write();
    if (dice < 80) return Delete();
    if (dice < 90) return PutQuota(Pause());
    if (dice < 93) return Add("delete-quota", {{"ns", Below(namespaces_)}, {"quota", Below(2)}});
    Foreign();
  }

  // Mostly a quota keeps its names and scope, and has other limits.
  void PutQuota(int after) {
    const int ns = Below(namespaces_);
    const int quota = Below(2);
    std::map<std::string, int> numbers{{"ns", ns}, {"quota", quota}};
    const auto last = quotas_.find({ns, quota});
    const bool keep = last != quotas_.end() && Percent(70);
    const auto has = [&](const char* name, int share) {
      return keep ? last->second.contains(name) : Percent(share);
    };
    if (has("storage", 80)) numbers["storage"] = 3 + Below(20);
    if (has("claims", 50)) numbers["claims"] = 1 + Below(5);
    if (has("secrets", 30)) numbers["secrets"] = 1 + Below(3);
    if (has("gold", 25)) numbers["gold"] = 1;
    quotas_[{ns, quota}] = numbers;
    Add(after, "quota", std::move(numbers));
  }

  void Write() {
    const bool secret = Percent(15);
    std::map<std::string, int> numbers{{"ns", Below(namespaces_)}, {"name", Below(names_)}};
    numbers["calls"] = Percent(60) ? 1 : 2 + Below(3);
    numbers["to"] = Below(1'000);
    numbers["store"] = Store();
    if (late_calls_ && Percent(15)) numbers["late"] = Below(1'500);
    if (late_calls_ && Percent(15)) numbers["stale"] = 1;
    if (Percent(4)) numbers["dry"] = 1;
    if (!secret) numbers["size"] = 1 + Below(8);
    if (!secret && Percent(40)) numbers["gold"] = 1;
    Add(secret ? "secret" : "claim", std::move(numbers));
  }

  // Milliseconds from the last answer to the store; -1: never.
  int Store() {
    if (Percent(12)) return -1;
    if (late_stores_ && Percent(25)) return Below(2'500);
    return Percent(70) ? Below(5) : Below(200);
  }

  void Delete() {
    Add("delete", {{"ns", Below(namespaces_)}, {"name", Below(names_)}, {"secret", Percent(15)}});
  }

  void Foreign() {
    const int ns = Below(namespaces_);
    if (Percent(50)) return Add("recount", {{"ns", ns}, {"quota", Below(2)}});
    Add("raise", {{"ns", ns}, {"quota", Below(2)}, {"by", 1 + Below(4)}});
  }

  void Fault() {
    std::map<std::string, int> numbers{
        {"replica", Below(static_cast<int>(schedule_.clocks.size()))}};
    const int dice = Below(100);
    if (dice < 10) {
      numbers["ms"] = Percent(50) ? Below(3'000) : 5'000 + Below(20'000);
      return Add("pause", std::move(numbers));
    }
    if (dice < 20) {
      numbers["down"] = Percent(70) ? Below(2'000) : Below(20'000);
      return Add(Percent(60) ? "kill" : "stop", std::move(numbers));
    }
    if (dice < 55) {
      numbers["resource"] = Below(3);
      if (dice < 33) return Add("cut", std::move(numbers));
      if (dice < 42) return Add("expire", std::move(numbers));
      if (dice < 50) {
        numbers["ms"] = Below(late_stores_ ? 1'000 : 3'500);
        return Add("lag", std::move(numbers));
      }
      numbers["ms"] = Below(20'000);
      return Add("block", std::move(numbers));
    }
    numbers["count"] = 1 + Below(3);
    numbers["writes"] = Percent(70) ? 1 : 0;
    if (dice < 66) return Add("lose", std::move(numbers));
    if (dice < 71) return Add("hang", std::move(numbers));
    if (dice < 80) return Add("drop", std::move(numbers));
    if (dice < 88) return Add("fail", std::move(numbers));
    numbers["ms"] = Below(1'500);
    Add("slow", std::move(numbers));
  }

  std::mt19937_64 random_;
  Schedule schedule_;
  std::map<std::pair<int, int>, std::map<std::string, int>> quotas_;  // as put last
  int namespaces_ = 1;
  int names_ = 2;
  int fault_share_ = 0;
  bool late_stores_ = false;
  bool late_calls_ = false;
};

}  // namespace

Schedule Draw(std::uint64_t seed) { return Drawer(seed).Draw(); }

}  // namespace simulation
