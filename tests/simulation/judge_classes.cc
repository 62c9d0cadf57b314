// Excuses for changed classes, and the checks that hold even if a class is missing.

#include <algorithm>

#include "tests/simulation/judge.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A replica caches that a class is missing for this time at most, by the slowest clock.
constexpr base::Duration kMissed = 500ms;
// Longer than the time from the first call of a write to its store, and than the age of the facts
// that decided an answer.
constexpr base::Duration kSettled = 16s;

}  // namespace

// A changed class changes usage without an admission. A replica that has not seen the change still
// admits by the old class.
void Judge::OnClass(const StoredClass* before, const StoredClass* after) {
  Touch();
  classes_calm_since_ = timeline_.Now();
  const StoredClass& changed = after != nullptr ? *after : *before;
  Narrate((after != nullptr ? "class " : "no class ") + changed.name + " " + ToText(changed.says));
  Keep();
  changed_[changed.name] = {timeline_.Now(), changed_[changed.name].incomplete};
  if (changed.says.size() < 2) changed_[changed.name].incomplete = true;
  Remember(before, changed);
  for (const auto& [key, quota] : server_->quotas()) Open(limits_[quota.uid].by_class);
  classes_shown_ = false;
  EndExcuses();
}

// Until all replicas have seen the change, each counts by the old or the new class. Only the
// smaller amount is certain.
void Judge::Remember(const StoredClass* before, const StoredClass& changed) {
  if (classes_shown_) {
    for (const auto& [name, of] : server_->classes()) {
      if (name != changed.name) remembered_[name].says = of.says;
    }
    if (before != nullptr) remembered_[changed.name].says = before->says;
  }
  Amounts& says = remembered_[changed.name].says;
  for (const auto& [name, amount] : changed.says) {
    const auto [entry, added] = says.try_emplace(name, amount);
    entry->second = std::min(entry->second, amount);
  }
}

void Judge::OnClassesShown(bool shown) {
  if (shown == classes_shown_) return;
  classes_shown_ = shown;
  Narrate(shown ? "all have seen the classes" : "somebody has not seen the classes");
  classes_calm_since_ = timeline_.Now();
  EndExcuses();
}

// All replicas know the same usage of this name, and did so recently.
bool Judge::IsCalmFor(const StoredQuota& quota, const std::string& name,
                      base::TimePoint since) const {
  if (!MayBeUnknown(name)) return true;
  if (!unread_objects_ && classes_calm_since_ == base::TimePoint{}) return true;
  if (!classes_shown_ || classes_calm_since_ > since) return false;
  const auto limits = limits_.find(quota.uid);
  if (limits != limits_.end() && IsExcused(limits->second.by_class)) return false;
  return server_->TrueUse(quota).contains(name);
}

// A name that becomes unknown keeps its last value. It is at least the usage of the stored objects
// by the classes that some replica knew, at any time until all have seen that it is unknown.
void Judge::Keep() {
  if (remembered_.empty()) return;
  for (const auto& [key, quota] : server_->quotas()) {
    Limits& limits = limits_[quota.uid];
    const Amounts truth = server_->TrueUse(quota);
    const Amounts used = quota.status_used.value_or(Amounts());
    for (const auto& [name, limit] : quota.hard) {
      const auto kept = limits.kept.find(name);
      if (truth.contains(name)) {
        if (kept != limits.kept.end()) limits.kept.erase(kept);
        continue;
      }
      std::int64_t as_known = 0;
      for (const auto& [of, machine] : server_->things(Resource::kMachines)) {
        as_known += Get(CountedBy(quota, machine, remembered_), name);
      }
      // Shortly after an excuse, reservations in advance may hide that `used` is too low.
      const bool settled = !IsExcused(limits.by_class) && !IsExcused(limits.excuses);
      if (kept != limits.kept.end()) {
        const bool seen = classes_shown_ && timeline_.Now() - classes_calm_since_ > 2s;
        if (!seen) kept->second = std::min(kept->second, as_known);
      } else if (settled && used.contains(name)) {
        limits.kept[name] = std::min(as_known, used.at(name));
      }
    }
  }
}

void Judge::CheckKept(const StoredQuota& quota) {
  if (limits_[quota.uid].kept.empty()) return;
  const Amounts truth = server_->TrueUse(quota);
  const Amounts used = quota.status_used.value_or(Amounts());
  for (const auto& [name, least] : limits_[quota.uid].kept) {
    if (truth.contains(name) || !quota.hard.contains(name)) continue;
    if (used.contains(name) && used.at(name) >= least) continue;
    Violation("what nobody knows is lowered: quota " + quota.ns + "/" + quota.name + " " + name +
              " used " + ToText(used) + ", it was at least " + std::to_string(least));
  }
}

// A class that exists at the time of the call is read live if the watch has not shown it.
void Judge::CheckClassRefusal(const Thing& after, const std::string& message,
                              base::TimePoint asked) {
  if (!message.starts_with("failed quota: ") || !server_->classes().contains(after.of)) return;
  const Changed& changed = changed_[after.of];
  if (changed.incomplete || changed.at + kMissed > asked) return;
  Violation("a machine is refused for a class that there is: " + after.name + ": " + message);
}

// Unknown is not zero.
void Judge::CheckWithoutClass(const Thing& after) {
  const base::TimePoint since = timeline_.Now() - kSettled;
  if (!classes_shown_ || classes_calm_since_ >= since || calm_since_ >= since) return;
  for (const auto& [key, quota] : server_->quotas()) {
    const Limits& limits = limits_[quota.uid];
    if (!Matches(quota, after) || IsExcused(limits)) continue;
    for (const auto& [name, limit] : quota.hard) {
      if (!IsUnknown(after, name, server_->classes()) || !HighestLimit(limits, name)) continue;
      Violation("a machine is admitted without its class: " + after.name + " of " + after.of);
    }
  }
}

}  // namespace simulation
