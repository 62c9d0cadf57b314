#pragma once

// What tied objects share with their owners, updated as it changes. So a sum costs the number of
// distinct pairs of facts, and the cost of an event does not grow with the number of objects. Only
// the ledger's sources include this.
//
// Which of an owner's objects is meant, and the facts of both, are looked up again when one of them
// changed. Owners are in another ledger, whose changes come through FollowedOwners. No I/O, one
// thread.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pkg/quota/facts.h"
#include "pkg/quota/uid.h"

namespace quota {

using Uids = std::unordered_set<Uid, UidHash>;

// Part of the owners' ledger: who is notified about changed objects.
class FollowedOwners {
 public:
  void Follow(const Uid& owner, const std::shared_ptr<Uids>& changed);
  void Unfollow(const Uid& owner, const std::shared_ptr<Uids>& changed);
  // Facts or tie of the object changed, or it was added or removed.
  void OnChange(const Uid& uid) const;

 private:
  std::unordered_multimap<Uid, std::weak_ptr<Uids>, UidHash> followers_;
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

  Ties() = default;
  ~Ties();
  Ties(const Ties&) = delete;
  Ties& operator=(const Ties&) = delete;

  [[nodiscard]] const Tie* Find(const Uid& uid) const;
  // The object has this tie, or none. Returns true if it had another.
  bool Set(const Uid& uid, std::optional<Tie> tie);
  // The object has other facts.
  void OnFacts(const Uid& uid);
  [[nodiscard]] bool AnyOwned() const { return !groups_.empty(); }

  // True if the owner of `tie`, which need not be held, means this object: it names it, or it names
  // none (`of_owner` is null) and has no older one.
  [[nodiscard]] bool IsMeant(const Tie& tie, const Tie* of_owner) const;

  // The pairs of objects that their owners mean, and these owners. Changed ones are looked up
  // first.
  const Pairs& Shared(const std::shared_ptr<FollowedOwners>& owners, const Lookup& lookup);

 private:
  // Created, name: the oldest sorts first.
  using Age = std::tuple<std::string, std::string, Uid>;
  struct Group {
    std::set<Age> by_age;
    std::multimap<std::string, Uid> by_name;
    std::vector<Pair> meant;  // as counted in pairs_
  };
  void Join(const Uid& uid, const Tie& tie);
  void Leave(const Uid& uid, const Tie& tie);
  void FollowAll(const std::shared_ptr<FollowedOwners>& owners);
  void Uncount(Group& group);
  void LookAnew(const Uid& owner, const Lookup& lookup);

  std::unordered_map<Uid, Tie, UidHash> ties_;
  std::unordered_map<Uid, Group, UidHash> groups_;  // owned objects by owner
  Pairs pairs_;
  std::shared_ptr<Uids> changed_ = std::make_shared<Uids>();  // owners to look up again
  std::shared_ptr<FollowedOwners> followed_;                  // null: Shared() was not called yet
};

}  // namespace quota
