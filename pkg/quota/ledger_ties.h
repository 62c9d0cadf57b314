#pragma once

// Usage that tied objects share with their owners, updated when either changes. So the cost of a
// sum depends on the number of distinct pairs of facts, and the cost of an event does not grow with
// the number of objects. Only the ledger's sources include this.
//
// When an owner or one of its objects changes, the ledger looks up again which object shares with
// the owner, and the facts of both. Owners are in another ledger, which reports changes through
// FollowedOwners. Each change of shared usage also updates the groups of the namespace. No I/O, one
// thread.
//
// Whoever creates an object writes the uid of its owner, and could choose many with one hash: uids
// are kept in order, not hashed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pkg/quota/facts.h"
#include "pkg/quota/uid.h"

namespace quota {

struct Namespace;
class Ties;

using Uids = std::set<Uid>;
// The ties of a ledger that have owners to look up again.
using StaleTies = std::unordered_set<Ties*>;

// The owners that must be looked up again.
class ChangedOwners {
 public:
  ChangedOwners(Ties& ties, std::shared_ptr<StaleTies> stale)
      : ties_(ties), stale_(std::move(stale)) {}
  ~ChangedOwners() { stale_->erase(&ties_); }
  ChangedOwners(const ChangedOwners&) = delete;
  ChangedOwners& operator=(const ChangedOwners&) = delete;

  void Add(const Uid& owner) {
    if (owners_.empty()) stale_->insert(&ties_);
    owners_.insert(owner);
  }
  void Drop(const Uid& owner) { owners_.erase(owner); }
  [[nodiscard]] Uids Take() {
    stale_->erase(&ties_);
    return std::exchange(owners_, {});
  }

 private:
  Ties& ties_;
  std::shared_ptr<StaleTies> stale_;
  Uids owners_;
};

// Part of the owners' ledger: notifies followers about changed objects.
class FollowedOwners {
 public:
  void Follow(const Uid& owner, const std::shared_ptr<ChangedOwners>& changed);
  void Unfollow(const Uid& owner, const std::shared_ptr<ChangedOwners>& changed);
  // Call if facts or tie of the object changed, or if it was added or removed.
  void OnChange(const Uid& uid) const;

 private:
  std::map<std::pair<Uid, const ChangedOwners*>, std::weak_ptr<ChangedOwners>> followers_;
};

// The ties of one namespace: those of owned objects in their ledger, and those of owners in theirs.
class Ties {
 public:
  // The facts of an owned object and of its owner.
  using Pair = std::pair<std::shared_ptr<const Facts>, std::shared_ptr<const Facts>>;
  using Pairs = std::map<Pair, std::size_t>;  // number of objects for each pair
  // Looks up owners, and the objects themselves. Null: it does not exist, or is unknown.
  struct Lookup {
    std::function<std::shared_ptr<const Facts>(const Uid& owner)> owner;
    std::function<const Tie*(const Uid& owner)> tie_of_owner;
    std::function<std::shared_ptr<const Facts>(const Uid& uid)> object;
  };

  Ties(Namespace& space, std::shared_ptr<StaleTies> stale);
  ~Ties();
  Ties(const Ties&) = delete;
  Ties& operator=(const Ties&) = delete;

  [[nodiscard]] bool empty() const { return ties_.empty(); }
  [[nodiscard]] const Tie* Find(const Uid& uid) const;
  // Sets or removes the object's tie. Returns true if that changed it.
  bool Set(const Uid& uid, std::optional<Tie> tie);
  // The facts of the object have changed.
  void OnFacts(const Uid& uid);
  [[nodiscard]] Namespace& space() const { return space_; }

  // True if this object shares its owner's usage. `of_owner` is the owner's tie; if it is null, the
  // owner names no object, and the oldest one shares. The object itself need not be stored.
  [[nodiscard]] bool IsMeant(const Tie& tie, const Tie* of_owner) const;

  // Looks up the pairs again that may have changed, and reports them to the namespace and its
  // groups (RecountShared()).
  void LookUp(const std::shared_ptr<FollowedOwners>& owners, const Lookup& lookup);
  // Replaces the owners, so that all pairs are looked up again.
  void FollowAll(const std::shared_ptr<FollowedOwners>& owners);

 private:
  // Creation time, name, uid. The oldest sorts first.
  using Age = std::tuple<std::string, std::string, Uid>;
  struct Group {
    std::set<Age> by_age;
    std::multimap<std::string, Uid> by_name;
    std::vector<Pair> meant;  // as counted by the namespace
  };
  void Join(const Uid& uid, const Tie& tie);
  void Leave(const Uid& uid, const Tie& tie);
  void Uncount(Group& group);
  void LookAnew(const Uid& owner, const Lookup& lookup);

  Namespace& space_;
  std::map<Uid, Tie> ties_;
  std::map<Uid, Group> groups_;  // owned objects by owner
  std::shared_ptr<ChangedOwners> changed_;
  std::shared_ptr<FollowedOwners> followed_;  // null: LookUp() was not called yet
};

}  // namespace quota
