#include "pkg/quota/ledger_ties.h"

#include <glog/logging.h>

#include "pkg/quota/ledger_groups.h"

namespace quota {

void FollowedOwners::Follow(const Uid& owner, const std::shared_ptr<ChangedOwners>& changed) {
  followers_.emplace(std::pair(owner, changed.get()), changed);
}

void FollowedOwners::Unfollow(const Uid& owner, const std::shared_ptr<ChangedOwners>& changed) {
  CHECK_EQ(followers_.erase({owner, changed.get()}), 1U)
      << "an owner that nobody follows loses a follower";
}

void FollowedOwners::OnChange(const Uid& uid) const {
  auto follower = followers_.lower_bound({uid, nullptr});
  for (; follower != followers_.end() && follower->first.first == uid; ++follower) {
    if (const auto changed = follower->second.lock()) changed->Add(uid);
  }
}

Ties::Ties(Namespace& space, std::shared_ptr<StaleTies> stale)
    : space_(space), changed_(std::make_shared<ChangedOwners>(*this, std::move(stale))) {}

Ties::~Ties() {
  if (followed_ == nullptr) return;
  for (const auto& [owner, group] : groups_) followed_->Unfollow(owner, changed_);
}

const Tie* Ties::Find(const Uid& uid) const {
  const auto at = ties_.find(uid);
  return at == ties_.end() ? nullptr : &at->second;
}

bool Ties::Set(const Uid& uid, std::optional<Tie> tie) {
  const auto at = ties_.find(uid);
  const bool held = at != ties_.end();
  if (held == tie.has_value() && (!held || at->second == *tie)) return false;
  if (held) {
    Leave(uid, at->second);
    ties_.erase(at);
  }
  if (tie) Join(uid, ties_.emplace(uid, std::move(*tie)).first->second);
  return true;
}

void Ties::Join(const Uid& uid, const Tie& tie) {
  if (!tie.owner) return;
  const auto [at, added] = groups_.try_emplace(*tie.owner);
  Group& group = at->second;
  CHECK(group.by_age.emplace(tie.created, tie.name, uid).second) << "a tied object joins twice";
  group.by_name.emplace(tie.name, uid);
  changed_->Add(*tie.owner);
  if (added && followed_ != nullptr) followed_->Follow(*tie.owner, changed_);
}

void Ties::Leave(const Uid& uid, const Tie& tie) {
  if (!tie.owner) return;
  const auto at = groups_.find(*tie.owner);
  CHECK(at != groups_.end()) << "a tied object leaves an owner that has none";
  Group& group = at->second;
  CHECK_EQ(group.by_age.erase({tie.created, tie.name, uid}), 1U)
      << "a tied object leaves an owner that it does not have";
  const auto [begin, end] = group.by_name.equal_range(tie.name);
  for (auto named = begin; named != end; ++named) {
    if (named->second != uid) continue;
    group.by_name.erase(named);
    break;
  }
  CHECK_EQ(group.by_age.size(), group.by_name.size()) << "an owner's objects differ by name";
  changed_->Add(*tie.owner);
  // This was the owner's last object. Remove its pairs, because nothing looks up the owner again.
  if (!group.by_age.empty()) return;
  Uncount(group);
  changed_->Drop(*tie.owner);
  if (followed_ != nullptr) followed_->Unfollow(*tie.owner, changed_);
  groups_.erase(at);
}

void Ties::OnFacts(const Uid& uid) {
  const Tie* const tie = Find(uid);
  if (tie != nullptr && tie->owner) changed_->Add(*tie->owner);
}

bool Ties::IsMeant(const Tie& tie, const Tie* of_owner) const {
  if (of_owner != nullptr) return of_owner->name == tie.name;
  const auto group = groups_.find(*tie.owner);
  // No stored object names this owner, so this one is the oldest.
  if (group == groups_.end()) return true;
  const auto& [created, name, uid] = *group->second.by_age.begin();
  // An object of the same name is the same object, even if the times differ.
  return std::tie(tie.created, tie.name) <= std::tie(created, name) || name == tie.name;
}

void Ties::LookUp(const std::shared_ptr<FollowedOwners>& owners, const Lookup& lookup) {
  // Another ledger of owners has other facts, so all owners are looked at again.
  FollowAll(owners);
  for (const Uid& owner : changed_->Take()) LookAnew(owner, lookup);
}

void Ties::FollowAll(const std::shared_ptr<FollowedOwners>& owners) {
  if (followed_ == owners) return;
  for (const auto& [owner, group] : groups_) {
    if (followed_ != nullptr) followed_->Unfollow(owner, changed_);
    owners->Follow(owner, changed_);
    changed_->Add(owner);
  }
  followed_ = owners;
}

void Ties::Uncount(Group& group) {
  for (const Pair& pair : group.meant) RecountShared(space_, pair, false);
  group.meant.clear();
}

void Ties::LookAnew(const Uid& owner, const Lookup& lookup) {
  const auto at = groups_.find(owner);
  if (at == groups_.end()) return;
  Group& group = at->second;
  CHECK(!group.by_age.empty()) << "an owner without objects is kept";
  Uncount(group);
  auto of_owner = lookup.owner(owner);
  // An owner that is not stored shares no usage.
  if (of_owner == nullptr) return;
  const Tie* const says = lookup.tie_of_owner(owner);
  const std::string& meant = says != nullptr ? says->name : std::get<1>(*group.by_age.begin());
  const auto [begin, end] = group.by_name.equal_range(meant);
  for (auto named = begin; named != end; ++named) {
    auto facts = lookup.object(named->second);
    if (facts == nullptr) continue;
    const Pair& pair = group.meant.emplace_back(std::move(facts), of_owner);
    RecountShared(space_, pair, true);
  }
}

}  // namespace quota
