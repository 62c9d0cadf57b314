// Machines and their classes: performs their actions, and probes at rest which machines each
// replica admits.

#include <algorithm>
#include <set>

#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

constexpr int kClasses = 3;

// Quotas for gold count machines of the third class.
std::string ClassName(int number) {
  static const char* const names[kClasses] = {"small", "large", "gold"};
  return names[number % kClasses];
}

Amounts SaysOf(const Action& action) {
  Amounts says;
  if (action.numbers.contains("cpu")) says[kCpu] = action.Get("cpu");
  if (action.numbers.contains("memory")) says[kMemory] = action.Get("memory");
  return says;
}

// Compares with the status, because an unknown name keeps its last value there and still limits
// creations.
bool Fits(const StoredQuota& quota, const Thing& machine, const Classes& classes) {
  if (!Matches(quota, machine)) return true;
  const Amounts used = quota.status_used.value_or(Amounts());
  return std::ranges::all_of(quota.hard, [&](const auto& limit) {
    const auto& [name, most] = limit;
    if (!used.contains(name) || IsUnknown(machine, name, classes)) return false;
    const std::int64_t amount = Get(UsageOf(machine, classes), name);
    return amount == 0 || Get(used, name) + amount <= most;
  });
}

}  // namespace

void World::PerformOnMachines(const Action& action) {
  const std::string of = ClassName(action.Get("class"));
  const Server::Key key{"ns" + std::to_string(action.Get("ns")),
                        "name" + std::to_string(action.Get("name"))};
  if (action.what == "class") return server_.PutClass(of, SaysOf(action));
  if (action.what == "delete-class") return server_.RemoveClass(of);
  if (action.what == "delete") return Delete(action, Resource::kMachines, key);
  if (action.what == "terminate") return Terminate(key);
  if (action.what != "machine") return judge_.Violation("no such action: " + action.what);
  Start({.resource = Resource::kMachines,
         .key = key,
         .of = of,
         .calls = std::max(1, action.Get("calls")),
         .to = action.Get("to"),
         .store = action.Get("store"),
         .slow = action.Get("slow"),
         .late = action.Get("late"),
         .stale = action.Get("stale") != 0,
         .dry_run = action.Get("dry") != 0});
}

// The controller of machines writes their status. The server calls no webhook for that.
void World::Terminate(const Server::Key& key) {
  const Thing* stored = server_.FindThing(Resource::kMachines, key);
  if (stored == nullptr || stored->terminated) return;
  Thing machine = *stored;
  machine.terminated = true;
  server_.Store(std::move(machine));
}

// Each replica must admit a machine of each class exactly if it fits, even if the class is missing.
void World::ProbeMachines() {
  const std::map<Server::Key, StoredQuota> quotas = server_.quotas();
  std::set<std::string> namespaces;
  for (const auto& [key, quota] : quotas) namespaces.insert(key.first);
  for (const std::string& ns : namespaces) {
    for (int number = 0; number < kClasses; ++number) {
      Thing probe{.resource = Resource::kMachines, .ns = ns, .name = "probe"};
      probe.of = ClassName(number);
      const bool fits = std::ranges::all_of(
          quotas, [&](const auto& entry) { return Fits(entry.second, probe, server_.classes()); });
      for (const auto& replica : replicas_) {
        probe.uid = server_.NewUid();
        if (ProbeOne(*replica, probe) == fits) continue;
        std::string what = "at rest a machine of class ";
        what.append(probe.of).append(" in ").append(ns);
        what.append(fits ? " fits, and is refused by " : " does not fit, and is admitted by ");
        judge_.Violation(what.append(replica->name()));
      }
    }
  }
}

}  // namespace simulation
