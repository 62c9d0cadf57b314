#include "pkg/quota/ledger_state.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace quota {
namespace {

constexpr std::size_t kMostReasonBytes = 512;

}  // namespace

void Ledger::State::BeginMarks() {
  if (sweep < std::numeric_limits<std::uint8_t>::max()) {
    ++sweep;
    return;
  }
  // All numbers were used, and an abandoned sweep may have left any of them as a mark.
  sweep = 1;
  for (const auto& space : spaces) {
    if (space != nullptr) space->objects.ResetMarks();
  }
}

NamespaceId Ledger::State::Open(std::string_view name) {
  if (const auto at = by_name.find(name); at != by_name.end()) return at->second;
  if (free_spaces.empty()) {
    free_spaces.push_back(static_cast<NamespaceId>(spaces.size()));
    spaces.emplace_back();
  }
  const NamespaceId id = free_spaces.back();
  free_spaces.pop_back();
  CHECK(spaces[id] == nullptr) << "the id of " << spaces[id]->name << " is given to " << name;
  spaces[id] = std::make_unique<Namespace>(name, pool, stale_ties);
  spaces[id]->groups = groups.Take(name);
  by_name.emplace(name, id);
  return id;
}

Namespace* Ledger::State::Find(std::string_view name) const {
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : spaces[at->second].get();
}

void Ledger::State::CloseIfEmpty(NamespaceId id) {
  const Namespace& space = *spaces[id];
  if (space.objects.size() > 0) return;
  CHECK(space.contents.empty()) << space.name << " counts objects that it does not have";
  CHECK(space.why.empty() && space.pending.empty() && space.ties.empty())
      << space.name << " remembers objects that it does not have";
  CHECK_EQ(by_name.erase(space.name), 1U) << space.name << " has another id";
  // Objects that come later must be in the same groups.
  groups.Keep(space.name, space.groups);
  spaces[id].reset();
  free_spaces.push_back(id);
}

FactsId Ledger::State::Put(Namespace& space, const Uid& uid, FactsId value,
                           std::optional<Seen> seen) {
  const std::size_t slot = space.objects.Find(uid);
  FactsId before = kNoObject;
  if (slot == UidTable::kNone) {
    const Seen first = seen.value_or(Seen());
    space.objects.Insert(uid, value, sweep, first.version, first.name);
    ++objects;
  } else {
    before = space.objects.value(slot);
    space.objects.SetValue(slot, value);
    if (seen) {
      space.objects.SetMark(slot, sweep);
      space.objects.SetVersion(slot, seen->version);
      space.objects.SetName(slot, seen->name);
    }
  }
  if (before == value) return before;
  followed->OnChange(uid);
  if (before != kNoObject) space.ties.OnFacts(uid);
  Recount(space, before, value);
  if (!IsUnread(value)) DropWhy(space, uid);
  return before;
}

void Ledger::State::Uncount(Namespace& space, const Uid& uid, FactsId value) {
  CHECK_GT(objects, 0U) << "more objects leave " << space.name << " than there are";
  --objects;
  Unschedule(space, uid);
  followed->OnChange(uid);
  SetTie(space, uid, std::nullopt);
  Recount(space, value, kNoObject);
  DropWhy(space, uid);
}

std::shared_ptr<const Facts> Ledger::State::Look(FactsId value) const {
  return value == kNoObject || value == kUnknown ? nullptr : pool.Get(value);
}

std::shared_ptr<const Facts> Ledger::State::Drop(FactsId value) {
  std::shared_ptr<const Facts> facts = Look(value);
  if (facts != nullptr) pool.Release(value);
  return facts;
}

bool Ledger::State::IsUnread(FactsId value) const {
  if (value == kUnknown) return true;
  return value != kNoObject && !pool.Get(value)->unread.empty();
}

void Ledger::State::SetWhy(Namespace& space, const Uid& uid, std::string why) {
  if (why.size() > kMostReasonBytes) why.resize(kMostReasonBytes);
  space.why.insert_or_assign(uid, std::move(why));
  if (space.why.size() == 1) NoteUnreadable(space);
}

void Ledger::State::DropWhy(Namespace& space, const Uid& uid) {
  if (space.why.erase(uid) > 0 && space.why.empty()) NoteUnreadable(space);
}

bool Ledger::State::SetTie(Namespace& space, const Uid& uid, std::optional<Tie> tie) {
  const bool changed = space.ties.Set(uid, std::move(tie));
  if (changed) followed->OnChange(uid);
  return changed;
}

Contents* Ledger::State::ContentsOf(const Space& space) {
  if (space.group.empty()) {
    Namespace* const one = Find(space.ns);
    return one == nullptr ? nullptr : &one->contents;
  }
  NamespaceGroup* const group = groups.Find(space.group);
  return group == nullptr ? nullptr : &group->contents;
}

void Ledger::State::LookUpShared(const Space& space, const Ledger& owners) {
  if (space.group.empty()) {
    if (Namespace* const one = Find(space.ns)) LookUpShared(*one, owners);
    return;
  }
  const std::shared_ptr<FollowedOwners>& now = owners.state_->followed;
  if (follows.lock() != now) {
    for (const auto& one : spaces) {
      if (one != nullptr) one->ties.FollowAll(now);
    }
    follows = now;
  }
  while (!stale_ties->empty()) LookUpShared((*stale_ties->begin())->space(), owners);
}

void Ledger::State::LookUpShared(Namespace& space, const Ledger& owners) const {
  const Ties::Lookup lookup{
      .owner = [&](const Uid& owner) { return owners.Find(space.name, owner); },
      .tie_of_owner = [&](const Uid& owner) { return owners.FindTie(space.name, owner); },
      .object = [&](const Uid& uid) -> std::shared_ptr<const Facts> {
        const std::size_t slot = space.objects.Find(uid);
        return slot == UidTable::kNone ? nullptr : Look(space.objects.value(slot));
      }};
  space.ties.LookUp(owners.state_->followed, lookup);
}

void Ledger::State::Schedule(NamespaceId id, const Uid& uid, std::optional<LaterFacts> later) {
  Namespace& space = *spaces[id];
  if (!later) return Unschedule(space, uid);
  CHECK(later->facts.unread.empty()) << "time alone makes names unread";
  const FactsId facts = pool.Acquire(std::move(later->facts));
  auto [at, added] = space.pending.try_emplace(uid, Pending{later->at, facts});
  if (added) {
    ++pending;
  } else {
    const Pending before = std::exchange(at->second, {later->at, facts});
    pool.Release(before.facts);
    if (before.at == later->at) return;
  }
  // An earlier timer of the object stays in the heap. IsStale() finds it.
  timers.push_back({later->at, id, uid});
  std::push_heap(timers.begin(), timers.end());
  DropStaleTimers();
}

void Ledger::State::Unschedule(Namespace& space, const Uid& uid) {
  const auto at = space.pending.find(uid);
  if (at == space.pending.end()) return;
  pool.Release(at->second.facts);
  space.pending.erase(at);
  CHECK_GT(pending, 0U) << "a pending change of " << space.name << " was not counted";
  --pending;
}

bool Ledger::State::IsStale(const Timer& timer) const {
  const Namespace* space = spaces[timer.space].get();
  if (space == nullptr) return true;
  const auto at = space->pending.find(timer.uid);
  return at == space->pending.end() || at->second.at != timer.at;
}

void Ledger::State::PopTimer() {
  CHECK(!timers.empty()) << "a timer is taken that there is not";
  std::pop_heap(timers.begin(), timers.end());
  timers.pop_back();
}

// Each rebuild that costs n is preceded by n / 2 timers that went stale.
void Ledger::State::DropStaleTimers() {
  constexpr std::size_t kSpare = 64;
  CHECK_GE(timers.size(), pending) << "a pending change has no timer";
  if (timers.size() <= 2 * pending + kSpare) return;
  std::erase_if(timers, [this](const Timer& timer) { return IsStale(timer); });
  std::make_heap(timers.begin(), timers.end());
}

}  // namespace quota
