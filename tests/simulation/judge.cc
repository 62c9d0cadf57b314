// Checks the stored objects against the enforced limits, and the statuses against the truth.

#include "tests/simulation/judge.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace simulation {
namespace {

// 42.4 s by the fastest clock.
constexpr base::Duration kLeftAlone = std::chrono::seconds(38);

std::string NameOf(const StoredQuota& quota) { return quota.ns + "/" + quota.name; }

}  // namespace

std::string Judge::At(const std::string& what) const {
  std::array<char, 32> at{};
  std::snprintf(at.data(), at.size(),
                "%.3f s: ", std::chrono::duration<double>(timeline_.Elapsed()).count());
  return at.data() + what;
}

void Judge::Narrate(const std::string& what) const {
  if (narrate_) narrate_(At(what));
}

void Judge::Violation(const std::string& what) {
  if (!violation_) violation_ = At(what);
}

// nullopt if the name had no limit at some recent time.
std::optional<std::int64_t> Judge::HighestLimit(const Limits& limits,
                                                const std::string& name) const {
  const base::TimePoint since = timeline_.Now() - kAdmissionLasts - more_;
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < limits.hard.size(); ++i) {
    const bool over = i + 1 < limits.hard.size() && limits.hard[i + 1].first < since;
    if (over) continue;
    const auto found = limits.hard[i].second.find(name);
    if (found == limits.hard[i].second.end()) return std::nullopt;
    highest = std::max(highest, found->second);
  }
  if (limits.hard.empty() || limits.hard.front().first > since) return std::nullopt;
  return highest;
}

void Judge::CheckLimits(const Thing* before, const Thing& after) {
  for (const auto& [key, quota] : server_->quotas()) {
    const Limits& limits = limits_[quota.uid];
    if (!Matches(quota, after) || IsExcused(limits)) continue;
    const Amounts old = before != nullptr ? server_->CountedBy(quota, *before) : Amounts();
    const Amounts truth = server_->TrueUse(quota);
    for (const auto& [name, amount] : server_->CountedBy(quota, after)) {
      if (amount <= Get(old, name) || !truth.contains(name)) continue;
      if (IsExcused(limits, name)) continue;
      const auto limit = HighestLimit(limits, name);
      if (!limit || truth.at(name) <= *limit) continue;
      Violation("stored usage is above the limit: quota " + NameOf(quota) + " " + name + " " +
                std::to_string(truth.at(name)) + " of " + std::to_string(*limit) + ", by " +
                after.name);
    }
  }
}

// An object is charged before it is stored, and stays in `used` until its watch shows it.
void Judge::CheckCovered() {
  for (const auto& [key, quota] : server_->quotas()) {
    const Limits& limits = limits_[quota.uid];
    if (!quota.status_hard || !quota.status_used || IsExcused(limits)) continue;
    for (const auto& [name, amount] : server_->TrueUse(quota)) {
      if (IsExcused(limits, name)) continue;
      if (!quota.status_hard->contains(name) || Get(*quota.status_used, name) >= amount) continue;
      Violation("used is below what is stored: quota " + NameOf(quota) + " " + name + " " +
                std::to_string(Get(*quota.status_used, name)) + " instead of " +
                std::to_string(amount));
    }
  }
}

void Judge::OnThing(const Thing* before, const Thing* after) {
  Touch();
  if (narrate_) {
    const Thing& thing = after != nullptr ? *after : *before;
    Narrate((after != nullptr ? "stored " : "deleted ") + thing.ns + "/" + thing.name + " " +
            ToText(UsageOf(thing, server_->classes())) + (thing.gold ? " gold" : ""));
  }
  if (before != nullptr) gone_.emplace_back(timeline_.Now(), *before);
  Keep();
  NotePromises();
  EndExcuses();
  if (after != nullptr) CheckLimits(before, *after);
  if (after != nullptr) CheckGuarantees(before, *after);
  CheckCovered();
}

void Judge::OnQuotaSpec(const StoredQuota* before, const StoredQuota* after) {
  Touch();
  if (after == nullptr) return;
  limits_[after->uid].kept.clear();
  if (!classes_shown_) Open(limits_[after->uid].by_class);
  const bool same_scope = before != nullptr && before->gold == after->gold;
  const bool more_names =
      before == nullptr || std::any_of(after->hard.begin(), after->hard.end(), [&](const auto& e) {
        return !before->hard.contains(e.first);
      });
  if (!same_scope || more_names) Excuse(*after);
  if (before != nullptr && before->enforced() != after->enforced()) NoteHard(*after);
}

void Judge::OnStatus(const StoredQuota& before, const StoredQuota& after) {
  const bool same = before.status_hard == after.status_hard &&
                    before.status_used == after.status_used && before.version == after.version;
  if (same) Violation("a status write changed nothing: quota " + NameOf(after));
  if (silence_) {
    Violation("a status was written though nothing happened: quota " + NameOf(after) + " used " +
              ToText(after.status_used.value_or(Amounts())));
  }
  if (narrate_) {
    Narrate("status of " + NameOf(after) + " hard " +
            ToText(after.status_hard.value_or(Amounts())) + " used " +
            ToText(after.status_used.value_or(Amounts())) + ", stored are " +
            ToText(server_->TrueUse(after)) + ", list " + after.reservations);
  }
  NoteHard(after);
  NotePromises();
  EndExcuses();
  CheckCovered();
  CheckCharged(before, after);
  CheckReserved(before, after);
  CheckLaterFormat(before, after);
  if (const auto list = ListIn(after)) last_lists_[after.uid] = list;
  NoteLowered(before, after);
  CheckKept(after);
}

// No replica of this version may write a list of a later format, until all of its requests are
// over.
void Judge::CheckLaterFormat(const StoredQuota& before, const StoredQuota& after) {
  const bool is_later = HasLaterFormat(after);
  const bool was_later = HasLaterFormat(before);
  if (is_later && !was_later) later_since_[after.uid] = timeline_.Now();
  if (!was_later || is_later || after.reservations.empty()) return;
  if (timeline_.Now() - later_since_[after.uid] >= kLeftAlone) return;
  Violation("a list of a later format is overwritten: quota " + NameOf(after) + " " +
            after.reservations);
}

// A quota in mode Warn or Audit enforces no limit.
void Judge::NoteHard(const StoredQuota& quota) {
  auto& hard = limits_[quota.uid].hard;
  const Amounts now = quota.enforced() ? quota.status_hard.value_or(Amounts()) : Amounts();
  if (hard.empty() || hard.back().second != now) hard.emplace_back(timeline_.Now(), now);
}

void Judge::OnPutBack() {
  OnTrouble();
  for (const auto& [key, quota] : server_->quotas()) {
    Excuse(quota);
    NoteHard(quota);
  }
}

void Judge::OnUnreadable(const Thing& thing) {
  unread_objects_ = true;
  OnTrouble();
  for (const auto& [key, quota] : server_->quotas()) {
    if (Matches(quota, thing)) Excuse(quota);
  }
}

void Judge::OnExternalLowering(const StoredQuota& quota, const std::string& lost) {
  Excuse(quota);
  limits_[quota.uid].kept.erase(lost);
}

void Judge::OnLeaders(const std::vector<const Replica*>& leaders) {
  if (leaders.size() > 1) {
    Violation("two lead at once: " + leaders[0]->name() + " and " + leaders[1]->name());
  }
  const Replica* now = leaders.empty() || leaders[0]->paused() ? nullptr : leaders[0];
  if (now == leader_) return;
  leader_ = now;
  Narrate(now != nullptr ? now->name() + " leads" : "nobody leads");
  led_since_.reset();
  if (now != nullptr) led_since_ = timeline_.Now();
  if (now == nullptr) OnTrouble();
}

void Judge::CheckTruth() {
  for (const auto& [key, quota] : server_->quotas()) {
    Amounts truth = server_->TrueUse(quota);
    Amounts hard = quota.status_hard.value_or(Amounts());
    Amounts used = quota.status_used.value_or(Amounts());
    for (const std::string& name : quota.unread) {  // nothing is promised
      hard.erase(name);
      used.erase(name);
    }
    for (const auto& [name, limit] :
         quota.hard) {  // an unknown name may be absent or have any value
      if (!truth.contains(name) && used.contains(name)) truth[name] = used.at(name);
    }
    CheckKept(quota);
    if (hard != quota.hard) {
      Violation("status.hard of " + NameOf(quota) + " is " + ToText(hard) + " instead of " +
                ToText(quota.hard));
    }
    if (used != truth) {
      Violation("status.used of " + NameOf(quota) + " is not the truth: " + ToText(used) +
                " instead of " + ToText(truth));
    }
  }
}

}  // namespace simulation
