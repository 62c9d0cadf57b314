#pragma once

// Groups of a ledger's namespaces: what all of them hold together, so that a sum over ten thousand
// namespaces costs no more than one over a single namespace with the same distinct facts. Only the
// ledger's sources include this.
//
// Namespaces with the same groups share one set of them. A set knows its groups, and a group is
// forgotten with the last set that has it. No I/O, one thread.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pkg/quota/facts_pool.h"

namespace quota {

struct Namespace;

using FactsCounts = std::unordered_map<FactsId, std::size_t>;  // facts id → objects, never 0

struct NamespaceOrder {
  using is_transparent = void;
  bool operator()(const Namespace* a, const Namespace* b) const;
};
using Namespaces = std::set<Namespace*, NamespaceOrder>;  // by name

struct NamespaceGroup {
  FactsCounts counts;     // of the objects of all its namespaces
  Namespaces unreadable;  // those with unknown objects
  Namespaces tied;        // those with tied objects
  std::size_t sets = 0;   // that have it
};

// The groups of some namespaces.
struct GroupSet {
  const std::vector<std::string>* names = nullptr;  // in order
  std::vector<NamespaceGroup*> groups;
  std::size_t namespaces = 0;  // that refer to it
};

// Which groups there are, and which a namespace without objects belongs to. A set that is null has
// no groups.
class GroupTable {
 public:
  // The set of these groups, with one more reference.
  GroupSet* Acquire(std::vector<std::string> names);
  void Release(GroupSet* set);
  [[nodiscard]] const NamespaceGroup* Find(std::string_view name) const;

  // Of namespaces without objects.
  void Keep(std::string_view ns, GroupSet* set);
  GroupSet* Take(std::string_view ns);  // it is kept no longer

  // No object is held any more.
  void ForgetObjects();

 private:
  std::map<std::vector<std::string>, GroupSet> sets_;
  std::map<std::string, NamespaceGroup, std::less<>> groups_;
  std::map<std::string, GroupSet*, std::less<>> empty_;
};

// The objects of the namespace are among those of its groups, or no longer. Costs its distinct
// facts.
void Join(Namespace& space);
void Leave(Namespace& space);
// One object of the namespace has these facts, or kUnknown, instead of those; kNoObject: it came,
// or went.
void Recount(Namespace& space, FactsId before, FactsId after);
// The namespace has its first unknown or tied object, or none any more.
void NoteUnreadable(Namespace& space);
void NoteTied(Namespace& space);

}  // namespace quota
