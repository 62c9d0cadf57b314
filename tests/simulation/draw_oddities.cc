// What others write that no daemon of this version would: amounts beyond every limit, texts that
// are no amounts, forged lists of reservations and lists of a later version. And an etcd that
// answers late. Each is in a part of the seeds, as an addition to the schedule that the seed has
// without it.

#include <algorithm>
#include <random>

#include "tests/simulation/schedule.h"

namespace simulation {
namespace {

class OddDrawer {
 public:
  explicit OddDrawer(Schedule& schedule)
      : schedule_(schedule), random_(schedule.seed * 0x2545f4914f6cdd1dULL + 7) {}

  void Draw() {
    const auto part = schedule_.seed % 12;
    if (part == 0) AddHuge();
    if (part == 2) AddGarbled();
    if (part == 4 || part == 9) AddForged();
    if (part == 6 && schedule_.api != Api::kIroncore) AddUnreadable();
    if (part == 7) AddSlowStores();
    if (part == 1 || part == 10) DeleteDuplicates();
    if (part == 8 && schedule_.api != Api::kIroncore) AddGarbledScopes();
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool Percent(int share) { return Below(100) < share; }
  static bool IsQuota(const Action& action) {
    return action.what == "quota" || action.what == "own-quota";
  }

  // The names of a quota that the schedule puts at some time; none if there is no quota.
  std::map<std::string, int> SomeQuota() {
    std::vector<const Action*> quotas;
    for (const Action& action : schedule_.actions) {
      if (IsQuota(action)) quotas.push_back(&action);
    }
    std::map<std::string, int> names;
    if (quotas.empty()) return names;
    const Action& quota = *quotas[static_cast<std::size_t>(Below(static_cast<int>(quotas.size())))];
    for (const char* name : {"ns", "quota", "own"}) {
      if (quota.numbers.contains(name)) names[name] = quota.Get(name);
    }
    return names;
  }

  // In the later two thirds.
  void Insert(std::string what, std::map<std::string, int> numbers) {
    auto& actions = schedule_.actions;
    const auto size = static_cast<int>(actions.size());
    const int at = size / 3 + Below(size - size / 3);
    actions.insert(actions.begin() + at, {std::move(what), Below(2'000), std::move(numbers)});
  }

  // Claims that are too large for any computer, and such limits.
  void AddHuge() {
    for (Action& action : schedule_.actions) {
      if (action.what == "claim" && Percent(15)) action.numbers["huge"] = 1 + Below(2);
      if (IsQuota(action) && Percent(40)) action.numbers["huge"] = 1;
    }
  }

  // Amounts in statuses, and limits in specs.
  void AddGarbled() {
    const int times = 1 + Below(4);
    for (int i = 0; i < times; ++i) {
      std::map<std::string, int> numbers = SomeQuota();
      numbers["what"] = Below(2);
      numbers["text"] = Below(4);
      Insert("garble", std::move(numbers));
    }
    for (Action& action : schedule_.actions) {
      if (IsQuota(action) && Percent(20)) action.numbers["unread"] = 1 + Below(2);
    }
  }

  // Of quotas from their first moment on, and from later ones, mostly until they are put again.
  void AddGarbledScopes() {
    std::vector<Action> puts;
    for (Action& action : schedule_.actions) {
      if (!IsQuota(action)) continue;
      puts.push_back(action);
      if (Percent(15)) action.numbers["scope"] = 1 + Below(2);
    }
    if (puts.empty()) return;
    const int times = 1 + Below(4);
    for (int i = 0; i < times; ++i) {
      Action put = puts[static_cast<std::size_t>(Below(static_cast<int>(puts.size())))];
      put.numbers["scope"] = 1 + Below(2);
      Insert(put.what, std::move(put.numbers));
    }
  }

  void AddForged() {
    const int times = 1 + Below(4);
    for (int i = 0; i < times; ++i) {
      std::map<std::string, int> numbers = SomeQuota();
      numbers["what"] = Below(8);
      Insert("forge", std::move(numbers));
    }
    // Of these, only the last one shows what it does: the next list replaces it. So nothing follows
    // the forged entry, and little the list of another quota.
    if (!Percent(80)) return;
    std::map<std::string, int> numbers = SomeQuota();
    const bool entry = Percent(50);
    numbers["what"] = entry ? 3 : 8;
    auto& actions = schedule_.actions;
    const std::size_t follow = entry ? 0 : std::min<std::size_t>(actions.size(), 3);
    actions.insert(actions.end() - static_cast<std::ptrdiff_t>(follow),
                   {"forge", Below(2'000), std::move(numbers)});
  }

  // Other draws do not use this name, so the object stays until something deletes it here.
  void AddUnreadable() {
    constexpr int kName = 90;
    Insert("unreadable", {{"ns", 0}, {"name", kName}});
    if (Percent(50)) schedule_.actions.push_back({"delete", 0, {{"ns", 0}, {"name", kName}}});
  }

  // The server stores up to twelve seconds after the admission, because its etcd elects a new
  // leader. Where all our answers are fast, the whole time is after them.
  void AddSlowStores() {
    const bool fast = std::ranges::none_of(schedule_.actions, [](const Action& action) {
      return action.what == "hang" || action.what == "slow";
    });
    for (Action& action : schedule_.actions) {
      const bool late = action.Get("store") > 0 && Percent(30);
      if (late) action.numbers["store"] = 3'000 + Below(fast ? 9'000 : 5'000);
    }
  }

  // The object of a creation whose name exists goes between the call and the store.
  void DeleteDuplicates() {
    auto& actions = schedule_.actions;
    for (std::size_t at = 0; at < actions.size(); ++at) {
      if (actions[at].Get("create") == 0 || !Percent(60)) continue;
      actions[at].numbers["store"] = 20 + Below(400);
      const Action& twice = actions[at];
      Action gone{"delete", 8 + Below(12), {{"ns", twice.Get("ns")}, {"name", twice.Get("name")}}};
      if (twice.what == "secret") gone.numbers["secret"] = 1;
      ++at;
      actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(at), std::move(gone));
    }
  }

  Schedule& schedule_;
  std::mt19937_64 random_;
};

}  // namespace

Schedule DrawOdd(Api api, std::uint64_t seed, bool silent) {
  Schedule schedule = DrawOf(api, seed, silent);
  schedule.odd = true;
  OddDrawer(schedule).Draw();
  return schedule;
}

}  // namespace simulation
