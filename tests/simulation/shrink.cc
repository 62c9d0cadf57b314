#include "tests/simulation/shrink.h"

#include <algorithm>

#include "tests/simulation/world.h"

namespace simulation {
namespace {

// The kind of a violation: its first words, without time and names.
std::string KindOf(const std::string& violation) {
  const std::size_t begin = violation.find(": ");
  const std::string text = begin == std::string::npos ? violation : violation.substr(begin + 2);
  std::string kind;
  int words = 0;
  for (const char c : text) {
    if (c == ' ' && ++words == 4) break;
    kind += c >= '0' && c <= '9' ? '#' : c;
  }
  return kind;
}

class Shrinker {
 public:
  Shrinker(Schedule schedule, std::string violation)
      : kind_(KindOf(violation)), best_{std::move(schedule), std::move(violation)} {}

  Shrunk Run() {
    DropReplicas();
    for (std::size_t before = 0; before != best_.schedule.actions.size();) {
      before = best_.schedule.actions.size();
      for (std::size_t chunk = std::max<std::size_t>(1, before / 2); chunk > 0; chunk /= 2) {
        DropChunks(chunk);
      }
    }
    Simplify();
    return std::move(best_);
  }

 private:
  bool Try(Schedule schedule) {
    auto violation = simulation::Run(schedule);
    if (!violation || KindOf(*violation) != kind_) return false;
    best_ = {std::move(schedule), std::move(*violation)};
    return true;
  }

  void DropReplicas() {
    while (best_.schedule.clocks.size() > 1) {
      Schedule shorter = best_.schedule;
      shorter.clocks.pop_back();
      if (!Try(std::move(shorter))) break;
    }
    Schedule same_clocks = best_.schedule;
    for (ClockOf& clock : same_clocks.clocks) clock = {};
    Try(std::move(same_clocks));
  }

  // First keeps the pauses of dropped actions, so that the others happen at the same time. Then
  // tries without these pauses.
  void DropChunks(std::size_t chunk) {
    for (std::size_t at = 0; at < best_.schedule.actions.size();) {
      if (!TryWithout(at, chunk, true) && !TryWithout(at, chunk, false)) at += chunk;
    }
  }

  bool TryWithout(std::size_t at, std::size_t chunk, bool keep_time) {
    Schedule shorter = best_.schedule;
    auto& actions = shorter.actions;
    const std::size_t end = std::min(at + chunk, actions.size());
    int time = 0;
    for (std::size_t i = at; i < end; ++i) time += actions[i].after;
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(at),
                  actions.begin() + static_cast<std::ptrdiff_t>(end));
    if (keep_time && at < actions.size()) actions[at].after += time;
    return Try(std::move(shorter));
  }

  // Fewer calls, no class, no waiting.
  void Simplify() {
    for (std::size_t i = 0; i < best_.schedule.actions.size(); ++i) {
      for (const char* number : {"calls", "gold", "dry", "claims", "secrets", "machines", "count",
                                 "store", "late", "stale"}) {
        if (!best_.schedule.actions[i].numbers.contains(number)) continue;
        Schedule simpler = best_.schedule;
        simpler.actions[i].numbers.erase(number);
        Try(std::move(simpler));
      }
      Schedule sooner = best_.schedule;
      sooner.actions[i].after = 0;
      if (best_.schedule.actions[i].after > 0) Try(std::move(sooner));
    }
  }

  std::string kind_;
  Shrunk best_;
};

}  // namespace

Shrunk Shrink(Schedule schedule, std::string violation) {
  return Shrinker(std::move(schedule), std::move(violation)).Run();
}

}  // namespace simulation
