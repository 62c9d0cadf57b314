#include "pkg/quota/ledger.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "pkg/quota/ledger_state.h"

namespace quota {
namespace {

constexpr std::size_t kMostLooks = 50'000;  // slots checked in one step of a sweep

}  // namespace

Ledger::Ledger() : state_(std::make_unique<State>()) {}
Ledger::~Ledger() = default;

std::optional<LedgerChange> Ledger::Set(std::string_view ns, Uid uid, ObjectFacts facts,
                                        VersionMark version, NameMark name) {
  State& state = *state_;
  const NamespaceId id = state.Open(ns);
  // Acquired before the old facts are dropped, so that equal facts keep their id.
  const FactsId after = state.pool.Acquire(std::move(facts.now));
  const FactsId before = state.Put(*state.spaces[id], uid, after, Seen{version, name});
  if (state.IsUnread(after)) state.SetWhy(*state.spaces[id], uid, std::move(facts.flaw));
  state.Schedule(id, uid, std::move(facts.later));
  const bool tied = state.SetTie(*state.spaces[id], uid, std::move(facts.tie));
  std::shared_ptr<const Facts> old = state.Drop(before);
  if (before == after && !tied) return std::nullopt;
  return LedgerChange{std::string(ns), uid, std::move(old), state.Look(after)};
}

std::optional<LedgerChange> Ledger::SetUnknown(std::string_view ns, Uid uid, std::string why,
                                               VersionMark version, NameMark name) {
  State& state = *state_;
  const NamespaceId id = state.Open(ns);
  Namespace& space = *state.spaces[id];
  const FactsId before = state.Put(space, uid, kUnknown, Seen{version, name});
  state.SetWhy(space, uid, std::move(why));
  state.Unschedule(space, uid);
  state.SetTie(space, uid, std::nullopt);
  if (before == kUnknown) return std::nullopt;
  return LedgerChange{std::string(ns), uid, state.Drop(before), nullptr};
}

std::optional<LedgerChange> Ledger::Remove(std::string_view ns, Uid uid) {
  State& state = *state_;
  const auto at = state.by_name.find(ns);
  if (at == state.by_name.end()) return std::nullopt;
  const NamespaceId id = at->second;
  Namespace& space = *state.spaces[id];
  const std::size_t slot = space.objects.Find(uid);
  if (slot == UidTable::kNone) return std::nullopt;
  const FactsId before = space.objects.value(slot);
  space.objects.Erase(slot);
  state.Uncount(space, uid, before);
  state.CloseIfEmpty(id);
  return LedgerChange{std::string(ns), uid, state.Drop(before), nullptr};
}

void Ledger::SetGroups(std::string_view ns, std::vector<std::string> groups) {
  State& state = *state_;
  // Acquired before the old set is released, so that common groups are not built again.
  GroupSet* const set = state.groups.Acquire(std::move(groups));
  if (Namespace* const space = state.Find(ns); space == nullptr) {
    state.groups.Release(state.groups.Take(ns));
    state.groups.Keep(ns, set);
  } else if (GroupSet* const before = space->groups; before != set) {
    Leave(*space);
    space->groups = set;
    Join(*space);
    state.groups.Release(before);
  } else {
    state.groups.Release(set);
  }
}

void Ledger::BeginSweep() {
  state_->sweeping = true;
  state_->swept = 0;
  state_->BeginMarks();
}

void Ledger::BeginAudit() {
  CHECK(!state_->sweeping) << "an audit during a relist takes what was seen for unseen";
  state_->BeginMarks();
  ++state_->audit.number;
}

Ledger::Sighting Ledger::Sight(std::string_view ns, const Uid& uid, VersionMark version) {
  Namespace* const space = state_->Find(ns);
  const std::size_t slot = space == nullptr ? UidTable::kNone : space->objects.Find(uid);
  if (slot == UidTable::kNone) return Sighting::kMissing;
  space->objects.SetMark(slot, state_->sweep);
  const bool same = version != kNoVersion && space->objects.version(slot) == version;
  return same ? Sighting::kSame : Sighting::kOtherVersion;
}

bool Ledger::VisitUnseen(
    std::size_t& place, std::size_t objects,
    const std::function<void(std::string_view ns, const Uid& uid)>& visit) const {
  const auto& spaces = state_->spaces;
  for (std::size_t looked = 0; place < spaces.size() && looked < objects; ++place) {
    ++looked;
    if (spaces[place] == nullptr) continue;
    const UidTable& table = spaces[place]->objects;
    looked += table.capacity();
    for (std::size_t slot = 0; slot < table.capacity(); ++slot) {
      const bool unseen = table.Used(slot) && table.mark(slot) != state_->sweep;
      if (unseen) visit(spaces[place]->name, table.uid(slot));
    }
  }
  return place < spaces.size();
}

std::vector<LedgerChange> Ledger::EndSweep() {
  std::vector<LedgerChange> removed;
  // Each step stops after kMostLooks slots, so one step may not be enough.
  while (SweepSome(std::numeric_limits<std::size_t>::max(), removed)) continue;
  state_->sweeping = false;
  return removed;
}

bool Ledger::SweepSome(std::size_t most, std::vector<LedgerChange>& removed) {
  State& state = *state_;
  if (!state.sweeping) return false;
  std::size_t looked = 0;
  for (; state.swept < state.spaces.size() && looked < kMostLooks; ++state.swept) {
    ++looked;
    if (state.spaces[state.swept] == nullptr) continue;
    Namespace& space = *state.spaces[state.swept];
    looked += space.objects.capacity();
    const auto remove = [&](const Uid& uid, FactsId before) {
      state.Uncount(space, uid, before);
      removed.push_back({space.name, uid, state.Drop(before), nullptr});
    };
    const std::size_t erased = space.objects.EraseUnmarked(state.sweep, most, remove);
    if (erased == most) return true;
    most -= erased;
    state.CloseIfEmpty(state.swept);
  }
  return state.swept < state.spaces.size();
}

std::vector<LedgerChange> Ledger::Expire(base::WallTime now, std::size_t most) {
  State& state = *state_;
  std::vector<LedgerChange> changes;
  while (changes.size() < most && !state.timers.empty() && state.timers.front().at <= now) {
    const Timer timer = state.timers.front();
    const bool stale = state.IsStale(timer);
    state.PopTimer();
    if (stale) continue;
    Namespace& space = *state.spaces[timer.space];
    // The reference that the pending change held now belongs to the object. Time alone does not
    // show that the object exists: its mark stays, or a sweep would keep a deleted object.
    const auto pending = space.pending.extract(timer.uid);
    CHECK_GT(state.pending, 0U) << "a pending change of " << space.name << " was not counted";
    --state.pending;
    const FactsId after = pending.mapped().facts;
    const FactsId before = state.Put(space, timer.uid, after, std::nullopt);
    std::shared_ptr<const Facts> old = state.Drop(before);
    if (before == after) continue;
    changes.push_back({space.name, timer.uid, std::move(old), state.Look(after)});
  }
  return changes;
}

std::optional<base::WallTime> Ledger::NextExpiry() const {
  State& state = *state_;
  while (!state.timers.empty() && state.IsStale(state.timers.front())) state.PopTimer();
  if (state.timers.empty()) return std::nullopt;
  return state.timers.front().at;
}

std::shared_ptr<const Facts> Ledger::Find(std::string_view ns, Uid uid) const {
  const Namespace* space = state_->Find(ns);
  if (space == nullptr) return nullptr;
  const std::size_t slot = space->objects.Find(uid);
  return slot == UidTable::kNone ? nullptr : state_->Look(space->objects.value(slot));
}

bool Ledger::Holds(std::string_view ns, const Uid& uid) const {
  const Namespace* space = state_->Find(ns);
  return space != nullptr && space->objects.Find(uid) != UidTable::kNone;
}

bool Ledger::MayHoldOther(std::string_view ns, NameMark name, const Uid& uid) const {
  const Namespace* space = name == kNoName ? nullptr : state_->Find(ns);
  return space != nullptr && space->objects.HasOther(uid, name);
}

VersionMark Ledger::VersionOf(std::string_view ns, const Uid& uid) const {
  const Namespace* space = state_->Find(ns);
  const std::size_t slot = space == nullptr ? UidTable::kNone : space->objects.Find(uid);
  return slot == UidTable::kNone ? kNoVersion : space->objects.version(slot);
}

const Tie* Ledger::FindTie(std::string_view ns, const Uid& uid) const {
  const Namespace* space = state_->Find(ns);
  return space == nullptr ? nullptr : space->ties.Find(uid);
}

std::size_t Ledger::size() const { return state_->objects; }
std::size_t Ledger::distinct_facts() const { return state_->pool.size(); }
std::size_t Ledger::namespaces() const { return state_->by_name.size(); }

void Ledger::Clear() {
  State cleared;
  // Groups come from quotas, not from objects, so they are kept.
  cleared.groups = std::move(state_->groups);
  cleared.groups.ForgetObjects();
  for (const auto& space : state_->spaces) {
    if (space != nullptr) cleared.groups.Keep(space->name, space->groups);
  }
  *state_ = std::move(cleared);
}

}  // namespace quota
