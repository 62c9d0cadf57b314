// Refusals: what needs nothing is never refused, and what fits only where something else may still
// be held against it.

#include <algorithm>

#include "tests/simulation/judge.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// Whatever was charged or went before is healed by now, if somebody led all the time: a hold of 10
// s by the slowest clock, a write that was stored late, and some.
constexpr base::Duration kHealed = 16s;
// A charge covers repeated calls for two seconds of its replica's clock.
constexpr base::Duration kCovers = 1500ms;

bool NeedsNothing(const Thing* before, const Thing& after) {
  return before != nullptr && before->uid == after.uid && after.size <= before->size &&
         after.gold == before->gold && after.of == before->of;
}

Amounts Growth(const StoredQuota& quota, const Thing& before, const Thing& after,
               const Classes& classes) {
  Amounts growth = CountedBy(quota, after, classes);
  for (const auto& [name, amount] : CountedBy(quota, before, classes)) growth[name] -= amount;
  return growth;
}

}  // namespace

// The time since which everything that may count is looked at.
base::TimePoint Judge::MemoryBegins() {
  const base::TimePoint now = timeline_.Now();
  if (!led_since_) return memory_begins_;
  const base::TimePoint healing_since = std::max(*led_since_, calm_since_);
  const base::Duration healed = kHealed + more_;
  if (now - healing_since >= healed) memory_begins_ = std::max(memory_begins_, now - healed);
  return memory_begins_;
}

void Judge::OnCall(const std::string& replica, const Thing* before, const Thing& after) {
  Touch();
  charged_.push_back({.at = timeline_.Now(),
                      .quota_uid = "",
                      .replica = replica,
                      .before = before != nullptr ? *before : Thing(),
                      .after = after,
                      .amount = {}});
  if (!narrate_) return;
  Narrate(replica + " is asked for " + after.ns + "/" + after.name + " " +
          ToText(UsageOf(after, server_->classes())));
}

void Judge::OnForeignRaise(const StoredQuota& quota, const std::string& name, std::int64_t by) {
  Touch();
  charged_.push_back({.at = timeline_.Now(),
                      .quota_uid = quota.uid,
                      .replica = "",
                      .before = {},
                      .after = {},
                      .amount = {{name, by}}});
}

// What was reserved for a burst is given back within a second or so, and is looked at for as long
// as any charge.
void Judge::OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) {
  Touch();
  Amounts amount;
  for (const auto& [name, quantity] : usage)
    amount[name] = static_cast<std::int64_t>(quantity.nanos() / 1'000'000'000);
  Narrate("for a burst of " + quota.key.ToString() + ": " + ToText(amount));
  charged_.push_back({.at = timeline_.Now(),
                      .quota_uid = quota.uid,
                      .replica = "",
                      .before = {},
                      .after = {},
                      .amount = std::move(amount)});
}

void Judge::OnAnswer(const Thing* before, const Thing& after, const admission::Answer& answer,
                     base::TimePoint asked) {
  Touch();
  if (narrate_) {
    const bool allowed = answer.kind == admission::Answer::Kind::kAllowed;
    Narrate("answer for " + after.ns + "/" + after.name + ": " +
            (allowed ? "allowed" : answer.message));
  }
  if (answer.kind == admission::Answer::Kind::kAllowed) {
    if (before == nullptr) CheckWithoutClass(after);
    return;
  }
  // What the call had added may be charged once more by the next.
  for (Charged& charged : charged_) {
    if (charged.after.uid == after.uid) charged.closed = true;
  }
  if (answer.kind != admission::Answer::Kind::kRefused) return;
  if (NeedsNothing(before, after)) {
    Violation("an update that needs nothing is refused: " + after.name + ": " + answer.message);
  }
  CheckRefusal(after, answer.message);
  CheckClassRefusal(after, answer.message, asked);
}

// What `used` may be at most: objects that are or were stored, and one charge of each replica for
// what each object was to grow by.
std::int64_t Judge::MostThatMayBeUsed(const StoredQuota& quota, const std::string& name,
                                      base::TimePoint since) const {
  std::map<std::string, std::int64_t> stored;  // by uid: the most of late
  const auto count = [&](const Thing& thing) {
    std::int64_t& most = stored[thing.uid];
    most = std::max(most, Get(server_->CountedBy(quota, thing), name));
  };
  for (const Resource resource : {Resource::kClaims, Resource::kSecrets, Resource::kMachines}) {
    for (const auto& [key, thing] : server_->things(resource)) count(thing);
  }
  for (const auto& [until, thing] : gone_) {
    if (until >= since) count(thing);
  }
  std::int64_t most = 0;
  for (const auto& [uid, amount] : stored) most += amount;
  struct Covering {
    base::TimePoint since;
    std::int64_t growth = 0;
    std::int64_t up_to = 0;
  };
  std::map<std::pair<std::string, std::string>, Covering> covering;  // by replica and object
  for (const Charged& charged : charged_) {
    if (charged.at < since) continue;
    if (charged.replica.empty()) {
      if (charged.quota_uid == quota.uid) most += Get(charged.amount, name);
      continue;
    }
    const std::int64_t growth =
        Get(Growth(quota, charged.before, charged.after, server_->classes()), name);
    if (growth <= 0) continue;
    Covering& held = covering[{charged.replica, charged.after.uid}];
    if (charged.at - held.since >= kCovers) held = {charged.at, 0, 0};
    // What was covered was stored since, where the object grows from there.
    const std::int64_t wanted = Get(server_->CountedBy(quota, charged.after), name);
    const std::int64_t covered = std::min({growth, held.growth, growth + held.up_to - wanted});
    most += growth - std::max<std::int64_t>(0, covered);
    held.growth = std::max(held.growth, growth);
    held.up_to = std::max(held.up_to, wanted);
    if (charged.closed || charged.lowered.contains(quota.uid)) held = {};
  }
  return most;
}

void Judge::NoteLowered(const StoredQuota& before, const StoredQuota& after) {
  for (const auto& [name, used] : after.status_used.value_or(Amounts())) {
    const auto writer = after.used_by.find(name);
    if (used >= Get(before.status_used.value_or(Amounts()), name)) continue;
    for (Charged& charged : charged_) {
      const bool own = writer != after.used_by.end() && charged.replica == writer->second;
      if (!own) charged.lowered.insert(after.uid);
    }
  }
}

// Nothing is held that we do not look at.
bool Judge::IsCalm(base::TimePoint since) const {
  if (calm_since_ == base::TimePoint{}) return true;
  return calm_since_ <= since && led_since_ && *led_since_ <= since;
}

// A charge belongs to the object, not to the call.
void Judge::CheckCharged(const StoredQuota& before, const StoredQuota& after) {
  const base::TimePoint since = MemoryBegins();
  if (!IsCalm(since) || !before.status_used || IsExcused(limits_[after.uid])) return;
  for (const auto& [name, used] : *after.status_used) {
    if (used <= Get(*before.status_used, name) || !IsCalmFor(after, name, since)) continue;
    if (!IsTreeCalm(after, since)) continue;
    const std::int64_t most = MostThatMayBeUsed(after, name, since);
    if (used <= most) continue;
    Violation("used is above what is stored and asked for: quota " + after.ns + "/" + after.name +
              " " + name + " " + std::to_string(used) + " instead of at most " +
              std::to_string(most));
  }
}

void Judge::CheckRefusal(const Thing& after, const std::string& message) {
  if (!message.starts_with("exceeded ")) return;
  const base::TimePoint since = MemoryBegins();
  if (!IsCalm(since)) return;
  const StoredQuota* const quota = RefusedBy(after, message);
  if (quota != nullptr && !IsTreeCalm(*quota, since)) return;
  const auto limits = quota != nullptr ? limits_.find(quota->uid) : limits_.end();
  if (limits == limits_.end() || IsExcused(limits->second)) return;
  for (const auto& [resource, limit] : quota->hard) {
    const bool used = server_->CountedBy(*quota, after).contains(resource) ||
                      IsUnknown(after, resource, server_->classes());
    if (used && !IsCalmFor(*quota, resource, since)) return;
  }
  for (const auto& [resource, amount] : server_->CountedBy(*quota, after)) {
    const auto limit = LowestLimit(limits->second, resource, since);
    if (!limit) continue;
    const std::int64_t held = MostHeldBack(*quota, resource, since);
    if (amount + MostThatMayBeUsed(*quota, resource, since) + held > *limit) return;
  }
  Violation("a request that fits is refused: " + after.name + ": " + message);
}

std::optional<std::int64_t> Judge::LowestLimit(const Limits& limits, const std::string& name,
                                               base::TimePoint since) const {
  std::optional<std::int64_t> lowest;
  for (std::size_t i = 0; i < limits.hard.size(); ++i) {
    const bool over = i + 1 < limits.hard.size() && limits.hard[i + 1].first < since;
    const auto found = limits.hard[i].second.find(name);
    if (over || found == limits.hard[i].second.end()) continue;
    lowest = std::min(lowest.value_or(found->second), found->second);
  }
  return lowest;
}

}  // namespace simulation
