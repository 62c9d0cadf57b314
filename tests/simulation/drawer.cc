#include "tests/simulation/drawer.h"

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
  schedule_.advance = schedule_.seed % 2 == 0;
  if (schedule_.seed % 4 != 0) return;
  constexpr int kTimesTheNames = 16;
  constexpr int kLongestPause = 60;  // ms
  constexpr int kMoreRoom = 200;
  int turn = 0;
  for (Action& action : schedule_.actions) {
    ++turn;
    if (action.what == "quota") {
      for (auto& [name, number] : action.numbers) {
        const bool limit = name != "ns" && name != "quota" && name != "gold" && name != "class";
        if (limit) number += kMoreRoom;
      }
    } else if (action.numbers.contains("name")) {
      action.numbers["name"] = action.Get("name") * kTimesTheNames + turn % kTimesTheNames;
    }
    if (turn % 5 != 0) action.after %= kLongestPause;
  }
}

void Drawer::KeepSome() {
  for (Action& action : schedule_.actions) {
    if (action.what == "delete" && Percent(25)) action.numbers["keep"] = 1;
  }
}

}  // namespace simulation
