#pragma once

// Groups of a ledger's namespaces. A group counts the objects of all its namespaces together, so a
// sum over ten thousand namespaces costs no more than a sum over one with the same distinct facts.
// Only the ledger's sources include this.
//
// Namespaces with the same groups share one GroupSet. A group is deleted with the last set that
// contains it. No I/O, one thread.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/facts_pool.h"
#include "pkg/quota/ledger_contents.h"

namespace quota {

struct NamespaceOrder {
  using is_transparent = void;
  bool operator()(const Namespace* a, const Namespace* b) const;
};
using Namespaces = std::set<Namespace*, NamespaceOrder>;  // by name

struct NamespaceGroup {
  Contents contents;      // the objects of all its namespaces
  Namespaces unreadable;  // those with unknown objects, or with objects that have unread names
  std::size_t sets = 0;   // number of sets that contain it
};

// The groups of some namespaces.
struct GroupSet {
  const std::vector<std::string>* names = nullptr;  // sorted
  std::vector<NamespaceGroup*> groups;
  std::size_t namespaces = 0;  // number of namespaces that refer to it
};

// All groups, and the sets of namespaces that have no objects. A null set has no groups.
class GroupTable {
 public:
  // Returns the set of these groups and adds a reference to it.
  GroupSet* Acquire(std::vector<std::string> names);
  void Release(GroupSet* set);
  [[nodiscard]] NamespaceGroup* Find(std::string_view name);

  // Remembers the set of a namespace while it has no objects. Take() returns and forgets it.
  void Keep(std::string_view ns, GroupSet* set);
  GroupSet* Take(std::string_view ns);
  // Resets all counts, when the ledger drops all its objects.
  void ForgetObjects();

 private:
  std::map<std::vector<std::string>, GroupSet> sets_;
  std::map<std::string, NamespaceGroup, std::less<>> groups_;
  std::map<std::string, GroupSet*, std::less<>> empty_;
};

// Adds the namespace's objects to its groups, or removes them. Costs the number of its distinct
// facts.
void Join(Namespace& space);
void Leave(Namespace& space);
// Updates the namespace and its groups after the value of one object changed. Each value is a facts
// id, kUnknown, or kNoObject for an object that was added or removed.
void Recount(Namespace& space, FactsId before, FactsId after);
// Call after the namespace got its first object that is unknown or has unread names, or lost its
// last one.
void NoteUnreadable(Namespace& space);
// One tied object of the namespace more, or one fewer, shares these facts with its owner.
void RecountShared(Namespace& space, const Ties::Pair& pair, bool more);

}  // namespace quota
