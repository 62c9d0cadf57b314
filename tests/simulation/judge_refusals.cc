// Checks refusals. An update that needs nothing is never refused. A write that fits is refused only
// if reservations or recent objects may still count.

#include <algorithm>

#include "pkg/accounting/reservation_list.h"
#include "tests/simulation/judge.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// All charges and deletions that are older have reached the status, if a replica led all the time.
// The time covers a hold of 14.9 s by the slowest clock, a write that was stored late, and a
// margin.
constexpr base::Duration kHealed = 22s;
// A charge covers repeated calls for two seconds of its replica's clock, or less of true time.
constexpr base::Duration kCovers = 1500ms;
// The reservation of a request that is refused in the end is removed within this time.
constexpr base::Duration kTakenBack = 3s;

bool NeedsNothing(const Thing* before, const Thing& after) {
  if (before == nullptr || before->uid != after.uid) return false;
  // kMost is written as more than the next number.
  const bool grows = after.size > before->size || (after.size == kMost && before->size > kMost);
  return !grows && after.gold == before->gold && after.of == before->of;
}

// True if the quota's list has an entry for the object.
bool HasEntryFor(const StoredQuota& quota, const std::string& uid) {
  return quota.reservations.find(quota::Uid::FromText(uid).ToShortText()) != std::string::npos;
}

// True if an entry of the list lets the object use as much.
bool Allows(const accounting::ReservationList* list, const std::string& uid,
            const Amounts& amounts) {
  const auto object = quota::Uid::FromText(uid);
  return list != nullptr && std::ranges::any_of(list->entries(), [&](const auto& entry) {
           return std::ranges::find(entry.objects, object) != entry.objects.end() &&
                  std::ranges::all_of(amounts, [&](const auto& amount) {
                    const quota::Quantity* const allowed = entry.usage.Find(amount.first);
                    return allowed == nullptr || UnitsOf(*allowed) >= amount.second;
                  });
         });
}

// True if each object of the entry has one in the list that lets it use as much. A repeated call,
// which another replica may answer, writes such an entry. It allows nothing new.
bool IsReserved(const accounting::ReservationList& list, const accounting::Reservation& entry) {
  const auto has = [&](const quota::Uid& object) {
    return std::ranges::any_of(list.entries(), [&](const accounting::Reservation& older) {
      return std::ranges::find(older.objects, object) != older.objects.end() &&
             quota::Excess(entry.usage, older.usage).empty();
    });
  };
  return !entry.objects.empty() && std::ranges::all_of(entry.objects, has);
}

// Returns the names for which new entries in `newer` allow an object to use more than is stored.
// `older` is null if there is no valid list before.
std::set<std::string> NamesReserved(const accounting::ReservationList* older,
                                    const accounting::ReservationList& newer) {
  std::set<std::string> names;
  for (const accounting::Reservation& entry : newer.entries()) {
    if (older != nullptr && older->Find(entry.by, entry.n) != nullptr) continue;
    if (older != nullptr && IsReserved(*older, entry)) continue;
    for (const auto& [name, amount] : quota::Excess(entry.usage, entry.stored)) names.insert(name);
  }
  return names;
}

Amounts Growth(const StoredQuota& quota, const Thing& before, const Thing& after,
               const Classes& classes) {
  Amounts growth = CountedBy(quota, after, classes);
  for (const auto& [name, amount] : CountedBy(quota, before, classes)) growth[name] -= amount;
  return growth;
}

}  // namespace

// Charges, objects and limits since this time are considered. Older ones have been settled.
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
  ++asked_[after.uid].open;
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

void Judge::OnExternalRaise(const StoredQuota& quota, const std::string& name, std::int64_t by,
                            const Thing& after) {
  Touch();
  charged_.push_back({.at = timeline_.Now(),
                      .quota_uid = quota.uid,
                      .replica = "",
                      .before = {},
                      .after = after,
                      .amount = {{name, by}}});
}

// A reservation in advance is returned within seconds. The judge considers it for as long as
// any other charge.
void Judge::OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) {
  Touch();
  Amounts amount;
  for (const auto& [name, quantity] : usage) amount[name] = UnitsOf(quantity);
  Narrate("for a burst of " + quota.key.ToString() + ": " + ToText(amount));
  charged_.push_back({.at = timeline_.Now(),
                      .quota_uid = quota.uid,
                      .replica = "",
                      .before = {},
                      .after = {},
                      .amount = std::move(amount)});
}

// Dry runs have no entry in asked_, because OnCall() is not called for them.
void Judge::NoteAnswer(const Thing* before, const Thing& after, const admission::Answer& answer) {
  const auto entry = asked_.find(after.uid);
  if (entry == asked_.end()) return;
  Asked& asked = entry->second;
  --asked.open;
  if (answer.kind == admission::Answer::Kind::kAllowed) {
    asked.allowed = true;
    if (before == nullptr) CheckAllReserved(after);
  } else {
    asked.refused = timeline_.Now();
    refused_.emplace_back(timeline_.Now(), after.uid);
  }
}

// A quota in mode Warn or Audit also admits what it could not reserve, because a write failed. Its
// mode may have changed since the replica saw it.
void Judge::NoteUnreserved(const Thing& after) {
  if (IsCalm(timeline_.Now() - kHealed)) return;
  for (const auto& entry : server_->quotas()) {
    const StoredQuota& quota = entry.second;
    if (!quota.tree) continue;
    const Limits& limits = limits_[quota.uid];
    const Amounts counted = server_->CountedBy(quota, after);
    // An entry of an earlier update may allow the object less.
    if (HasEntryFor(quota, after.uid) && Allows(ListIn(quota).get(), after.uid, counted)) continue;
    const bool denied = std::ranges::all_of(counted, [&](const auto& amount) {
      return !quota.hard.contains(amount.first) || HighestLimit(limits, amount.first);
    });
    if (!counted.empty() && !(quota.enforced() && denied)) Excuse(quota);
  }
}

// After a refusal by one quota, no other quota may keep a reservation for the request.
void Judge::CheckRefused() {
  while (!refused_.empty() && timeline_.Now() - refused_.front().first >= kTakenBack) {
    const auto [at, uid] = refused_.front();
    refused_.pop_front();
    const Asked& asked = asked_[uid];
    if (asked.allowed || asked.open > 0 || asked.refused > at || !IsCalm(at - kTakenBack)) continue;
    for (const auto& [key, quota] : server_->quotas()) {
      if (!HasEntryFor(quota, uid)) continue;
      Violation("what is refused is reserved still: quota " + quota.ns + "/" + quota.name + " " +
                quota.reservations);
    }
  }
}

void Judge::OnReserve(std::string reservations) { reserving_.insert(std::move(reservations)); }

// Uses the mode and the limit of the version that guards the write. The write may raise `used`
// above the limit for other names, for what somebody lowered since our last write, and with an
// entry for a repeated call: it then only shows what is stored.
void Judge::CheckReserved(const StoredQuota& before, const StoredQuota& after) {
  if (before.reservations == after.reservations || !after.enforced()) return;
  if (!before.status_hard || reserving_.erase(after.reservations) == 0) return;
  const auto newer = ListIn(after);
  if (!newer) return;
  // Somebody may have damaged the list. Replicas that know it store it again.
  const auto stored = ListIn(before);
  const auto list = stored ? stored : last_lists_[after.uid];
  for (const std::string& name : NamesReserved(list.get(), *newer)) {
    // In place of a limit that cannot be read, the spec's is in force.
    const Amounts& limits = Get(*before.status_hard, name) < 0 ? before.hard : *before.status_hard;
    const auto limit = limits.find(name);
    const std::int64_t used = Get(*after.status_used, name);
    if (limit == limits.end() || used <= limit->second) continue;
    const quota::Quantity* const written = list ? list->used.Find(name) : nullptr;
    std::int64_t known = Get(before.status_used.value_or(Amounts()), name);
    if (written != nullptr) known = std::max(known, UnitsOf(*written));
    if (used <= known) continue;
    Violation("more is reserved than the limit: quota " + after.ns + "/" + after.name + " " + name +
              " " + std::to_string(used) + " of " + std::to_string(limit->second));
  }
}

// An admitted object is reserved in each quota that limits it, of all quota APIs.
void Judge::CheckAllReserved(const Thing& after) {
  const base::TimePoint since = MemoryBegins();
  if (!all_reserved_ || !IsCalm(since)) return;
  std::optional<std::string> lacks;
  for (const auto& [key, quota] : server_->quotas()) {
    if (!quota.enforced() || !quota.status_hard || !IsTreeCalm(quota, since)) continue;
    if (IsExcused(limits_[quota.uid])) continue;
    const bool named = HasEntryFor(quota, after.uid);
    for (const auto& [name, amount] : server_->CountedBy(quota, after)) {
      // A name that was removed from the spec loses its entries before it leaves the status.
      const bool limited = quota.status_hard->contains(name) && quota.hard.contains(name);
      if (amount == 0 || !limited) continue;
      if (!IsCalmFor(quota, name, since)) continue;
      if (!named) lacks = "quota " + quota.ns + "/" + quota.name + " " + name;
    }
  }
  if (!lacks) return;
  Violation("what is admitted is not reserved: " + *lacks + ", by " + after.name);
}

void Judge::OnAnswer(const Thing* before, const Thing& after, const admission::Answer& answer,
                     base::TimePoint asked) {
  Touch();
  NoteAnswer(before, after, answer);
  if (narrate_) {
    const bool allowed = answer.kind == admission::Answer::Kind::kAllowed;
    Narrate("answer for " + after.ns + "/" + after.name + ": " +
            (allowed ? "allowed" : answer.message));
  }
  if (answer.kind == admission::Answer::Kind::kAllowed) {
    if (before == nullptr) CheckWithoutClass(after);
    NoteUnreserved(after);
    return;
  }
  // The next call may charge again what this call had added.
  for (Charged& charged : charged_) {
    if (charged.after.uid == after.uid) charged.closed = true;
  }
  if (answer.kind != admission::Answer::Kind::kRefused) return;
  if (NeedsNothing(before, after)) {
    Violation("an update that needs nothing is refused: " + after.name + ": " + answer.message);
  }
  if (answer.message.find("out of range") != std::string::npos) {
    Violation("a request is refused because an amount is large: " + answer.message);
  }
  CheckRefusal(after, answer.message);
  CheckClassRefusal(after, answer.message, asked);
}

// The upper bound of `used`: objects that are or were recently stored, and one charge of each
// replica for the growth of each object.
std::int64_t Judge::MostThatMayBeUsed(const StoredQuota& quota, const std::string& name,
                                      base::TimePoint since) const {
  std::map<std::string, std::int64_t> stored;  // by uid: the recent maximum
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
    std::uint64_t from = 0;  // the version of the object that it started from
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
    if (charged.at - held.since >= kCovers) held = {charged.at, 0, 0, 0};
    // If the object was stored meanwhile and grows further, the earlier charge covers less of it.
    const std::int64_t wanted = Get(server_->CountedBy(quota, charged.after), name);
    const std::int64_t covered = std::min({growth, held.growth, growth + held.up_to - wanted});
    most += growth - std::max<std::int64_t>(0, covered);
    // The write drops entries from earlier versions, which cannot be stored any more.
    const bool later = charged.before.version > held.from;
    held.growth = later ? growth : std::max(held.growth, growth);
    held.from = std::max(held.from, charged.before.version);
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

// No fault or change of leader since then, so no hold exists that the judge does not consider.
bool Judge::IsCalm(base::TimePoint since) const {
  if (calm_since_ == base::TimePoint{}) return true;
  return calm_since_ <= since && led_since_ && *led_since_ <= since;
}

// Checks the upper bound of `used`. Repeated calls about one object may charge it only once.
void Judge::CheckCharged(const StoredQuota& before, const StoredQuota& after) {
  const base::TimePoint since = MemoryBegins();
  if (!IsCalm(since) || !before.status_used || WasExcused(limits_[after.uid], since)) return;
  for (const auto& [name, used] : *after.status_used) {
    // A name that was removed from the spec loses its entries at once, but stays in the status
    // until the next recount.
    if (!after.hard.contains(name)) continue;
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
  if (limits == limits_.end() || WasExcused(limits->second, since)) return;
  for (const auto& [resource, limit] : quota->hard) {
    const bool used = server_->CountedBy(*quota, after).contains(resource) ||
                      IsUnknown(after, resource, server_->classes());
    if (used && !IsCalmFor(*quota, resource, since)) return;
  }
  for (const auto& [resource, amount] : server_->CountedBy(*quota, after)) {
    const auto limit = LowestLimit(limits->second, resource, since);
    if (!limit) continue;
    const std::int64_t held = MostHeldBack(*quota, resource, since);
    const std::int64_t most = amount + MostThatMayBeUsed(*quota, resource, since) + held;
    if (most > *limit || most >= kMost) return;
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
