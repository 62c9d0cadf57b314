#include "tests/simulation/drawer.h"

#include <algorithm>

namespace simulation {

void Drawer::DrawReplicas() {
  const int replicas = 1 + Below(3);
  const bool differ = Percent(50);
  for (int i = 0; i < replicas; ++i) {
    ClockOf clock;
    if (differ) clock = {.ahead_seconds = Below(100'000), .rate_percent = 90 + 5 * Below(5)};
    schedule_.clocks.push_back(clock);
  }
}

void Drawer::DrawManner() {
  namespaces_ = 1 + Below(2);
  names_ = 2 + Below(5);
  fault_share_ = Below(3) == 0 ? 0 : 5 + Below(30);
  late_stores_ = Below(2) == 0;
  late_calls_ = Below(2) == 0;
}

int Drawer::Pause() {
  if (Percent(40)) return Below(8);
  if (Percent(70)) return Below(400);
  return Percent(80) ? Below(3'000) : Below(15'000);
}

std::map<std::string, int> Drawer::WriteOf() {
  std::map<std::string, int> numbers{{"ns", Below(namespaces_)}, {"name", Below(names_)}};
  numbers["calls"] = Percent(60) ? 1 : 2 + Below(3);
  numbers["to"] = Below(1'000);
  numbers["store"] = Store();
  if (late_calls_ && Percent(15)) numbers["late"] = Below(1'500);
  if (late_calls_ && Percent(15)) numbers["stale"] = 1;
  if (Percent(4)) numbers["dry"] = 1;
  return numbers;
}

int Drawer::Store() {
  if (Percent(12)) return -1;
  if (late_stores_ && Percent(25)) return Below(2'500);
  return Percent(70) ? Below(5) : Below(200);
}

void Drawer::Fault() {
  std::map<std::string, int> numbers{{"replica", Below(static_cast<int>(schedule_.clocks.size()))}};
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

void Drawer::MakeCrowded() {
  if (schedule_.seed % 2 == 0) {
    schedule_.bursts = schedule_.seed / 4 % 2 == 0 ? Bursts::kShort : Bursts::kLong;
  }
  if (schedule_.seed % 4 != 0) return;
  constexpr int kTimesTheNames = 16;
  constexpr int kLongestPause = 60;  // ms
  constexpr int kMoreRoom = 200;
  int turn = 0;
  for (Action& action : schedule_.actions) {
    ++turn;
    if (action.what == "quota" || action.what == "own-quota") {
      for (const char* limit : {"storage", "claims", "secrets", "cpu", "memory", "machines"}) {
        if (action.numbers.contains(limit)) action.numbers[limit] += kMoreRoom;
      }
    } else if (action.numbers.contains("name")) {
      action.numbers["name"] = action.Get("name") * kTimesTheNames + turn % kTimesTheNames;
    }
    if (turn % 5 != 0) action.after %= kLongestPause;
  }
}

void Drawer::MakeHarsh() {
  for (Action& action : schedule_.actions) {
    const bool may = action.what == "fail" || action.what == "lose";
    if (may && Percent(50)) action.what = "err";
  }
  if (schedule_.seed % 7 == 0) AddErrors();
  if (schedule_.seed % 3 == 0) AddWebhooks();
  if (schedule_.seed % 5 == 0 && schedule_.api != Api::kIroncore) AddRestore();
  if (schedule_.seed % 7 == 3) AddAhead();
}

// In a namespace of its own: deletions lower `used` with a write that is made but answered 5xx. The
// watch shows this write only after others have charged more.
void Drawer::AddErrors() {
  while (schedule_.clocks.size() < 2) schedule_.clocks.emplace_back();
  constexpr int kRoom = 50;
  AddOwnQuota(0, kRoom);
  for (int turn = 0; turn < 3; ++turn) {
    const int first = 10 * turn;  // name
    for (int i = 0; i < 2; ++i) AddOwn(i == 0 ? 2'000 : 0, first + i, 0, 0);
    // This replica may be the leader, which makes the write.
    const int replicas = static_cast<int>(schedule_.clocks.size());
    const int replica = Below(replicas);
    Add(18'000, "lag", {{"replica", replica}, {"resource", 0}, {"ms", 500}});  // after a calm time
    Add(0, "err", {{"replica", replica}, {"writes", 1}, {"count", 1}});
    Add(0, "slow", {{"replica", replica}, {"count", 2}, {"ms", 80}});
    for (int i = 0; i < 2; ++i) {
      Add(0, "delete", {{"ns", kOwnNamespace}, {"name", first + i}});
    }
    const int other = (replica + 1) % replicas;
    for (int i = 2; i < 5; ++i) AddOwn(i == 2 ? 10 + Below(10) : Below(8), first + i, other, 1'500);
  }
}

void Drawer::AddOwnQuota(int number, int room) {
  std::map<std::string, int> quota{{"ns", kOwnNamespace}, {"quota", number}};
  quota[schedule_.api == Api::kIroncore ? "machines" : "storage"] = room;
  Add(0, "quota", std::move(quota));
}

void Drawer::AddOwn(int after, int name, int replica, int store) {
  std::map<std::string, int> numbers{
      {"ns", kOwnNamespace}, {"name", name}, {"to", replica}, {"store", store}};
  if (schedule_.api != Api::kIroncore) numbers["size"] = 1 + Below(4);
  Add(after, schedule_.api == Api::kIroncore ? "machine" : "claim", std::move(numbers));
}

// In a namespace of its own: the watch of one replica is ahead of another's, perhaps the leader's.
// So the first replica removes entries of objects before the other has seen these objects.
void Drawer::AddAhead() {
  if (schedule_.clocks.size() < 2) return;
  constexpr int kRoom = 90;
  AddOwnQuota(1, kRoom);
  for (int turn = 0; turn < 3; ++turn) {
    const int replica = Below(static_cast<int>(schedule_.clocks.size()));
    const int other = (replica + 1) % static_cast<int>(schedule_.clocks.size());
    Add(18'000, "lag", {{"replica", replica}, {"resource", 1}, {"ms", 3'000}});
    for (int i = 0; i < 3; ++i) AddOwn(i == 0 ? 10 : 300 + Below(200), 60 + 3 * turn + i, other, 0);
  }
}

// If another webhook may take 30 s, writes are stored up to 32 s after their admission.
void Drawer::AddWebhooks() {
  constexpr int kLongestStore = 2'000;  // ms
  schedule_.webhooks = true;
  for (Action& action : schedule_.actions) {
    if (!action.numbers.contains("store") || action.Get("store") < 0) continue;
    action.numbers["store"] = std::min(action.Get("store"), kLongestStore);
    if (Percent(40)) action.numbers["slow"] = Percent(50) ? Below(31'000) : Below(5'000);
  }
  // After this pause new quotas are no excuse any more.
  const std::size_t pause = schedule_.actions.size() / 5 + static_cast<std::size_t>(Below(5));
  schedule_.actions[pause].after += 60'000;
  const int changes = 1 + Below(4);
  for (int i = 0; i < changes; ++i) {
    static constexpr int kSeconds[] = {2, 5, 10, 15, 30, 30};
    Action action{"webhook", Percent(50) ? Below(500) : Below(20'000), {{"name", Below(2)}}};
    if (i > 0 && Percent(30)) {
      action.what = "delete-webhook";
    } else {
      action.numbers["seconds"] = kSeconds[Below(6)];
    }
    const std::size_t size = schedule_.actions.size();
    Insert(i == 0 ? 0 : static_cast<std::size_t>(Below(static_cast<int>(size))), std::move(action));
  }
}

void Drawer::AddRestore() {
  const int size = static_cast<int>(schedule_.actions.size());
  const int restored = 1 + Below(size);
  const int saved = Below(restored);
  Action restore{"restore", Below(2'000), {{"away", 36'000 + Below(20'000)}}};
  restore.numbers["silent"] = Percent(50) ? 1 : 0;
  Insert(static_cast<std::size_t>(restored), std::move(restore));
  Insert(static_cast<std::size_t>(saved), {"backup", 0, {}});
}

void Drawer::MakeSilent() {
  for (Action& action : schedule_.actions) {
    // Only watches of objects become silent. A replica cannot enforce a quota that it has not seen.
    const bool objects = action.what == "lag" && action.Get("resource") % 3 != 0;
    if (objects) action.numbers["ms"] = 5'000 + Below(25'000);
  }
}

void Drawer::KeepSome() {
  for (Action& action : schedule_.actions) {
    if (action.what == "delete" && Percent(25)) action.numbers["keep"] = 1;
  }
}

// The server calls the webhook, and answers 409 at the store. Or the object was deleted meanwhile,
// and the creation is stored.
void Drawer::AddDuplicates() {
  if (schedule_.seed % 3 != 1) return;
  random_.seed(schedule_.seed * 0x2545f4914f6cdd1dULL + 7);
  for (Action& action : schedule_.actions) {
    const bool creates = action.what == "claim" || action.what == "secret";
    if (creates && Percent(20)) action.numbers["create"] = 1;
  }
}

}  // namespace simulation
