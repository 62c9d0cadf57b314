#pragma once

// The objects of one tracked resource and their usage: for each namespace uid → facts, and facts →
// number of objects. An event costs O(1). Usage is summed over distinct facts, never over objects,
// and a sum that is asked for again is kept, so that an event adds what it changes. Groups of
// namespaces are counted in the same way, and an event also costs the number of groups of its
// namespace. Full objects are never kept: an object costs about 50 bytes.
//
// No I/O, one thread. Each call is atomic, because none suspends.

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/name_mark.h"
#include "pkg/quota/scope.h"
#include "pkg/quota/space.h"
#include "pkg/quota/uid.h"
#include "pkg/quota/version_mark.h"

namespace quota {

// What a call changed. `before` and `after` are null if the object does not exist, or if its facts
// are unknown. They are the same if only the object's Tie changed.
struct LedgerChange {
  std::string ns;
  Uid uid;
  std::shared_ptr<const Facts> before;
  std::shared_ptr<const Facts> after;
  std::string version = {};  // of the object that was shown; "" if no object was shown
};

// The differences between a new list and the held objects: see BeginSweep().
struct Drift {
  std::size_t missing = 0;    // listed, but not held
  std::size_t vanished = 0;   // held, but not listed
  std::size_t different = 0;  // held with other facts
  [[nodiscard]] std::size_t objects() const { return missing + vanished + different; }
};

// At least so much is used. More is used under the names in `unknown`; each is there once.
struct LeastUsage {
  ResourceList usage;
  std::vector<UnknownUsage> unknown;
};

class Ledger;

// What a sum needs besides facts.
struct Beside {
  const ClassTable* classes = nullptr;  // null: classes use nothing
  // The owners of tied objects (Tie): an owner's usage under a name is subtracted from its object's
  // usage under that name, never below zero. If an owner names none of several objects, only the
  // oldest is taken for its own. Null: nothing is subtracted.
  const Ledger* owners = nullptr;
};

class Ledger {
 public:
  Ledger();
  ~Ledger();

  // The object exists with these facts, in this version of it, under this name. Returns nullopt if
  // no fact changed.
  // If names are unread (Facts::unread), the flaw is the reason that Sum() reports.
  std::optional<LedgerChange> Set(std::string_view ns, Uid uid, ObjectFacts facts,
                                  VersionMark version = kNoVersion, NameMark name = kNoName);
  // The object exists, but nothing of its usage can be read (a malformed object): all names are
  // unknown in its namespace until the object is set again or removed.
  std::optional<LedgerChange> SetUnknown(std::string_view ns, Uid uid, std::string why,
                                         VersionMark version = kNoVersion, NameMark name = kNoName);
  std::optional<LedgerChange> Remove(std::string_view ns, Uid uid);

  // The namespace belongs to these groups from now on, whether or not it has objects. Costs the
  // number of distinct facts in the namespace, for each group.
  void SetGroups(std::string_view ns, std::vector<std::string> groups);

  // A relist: EndSweep() removes the objects that were neither Set() nor SetUnknown() since
  // BeginSweep(), and returns them. Another BeginSweep() before that starts over. Nothing is
  // copied: each object has the number of the sweep that saw it last.
  void BeginSweep();
  std::vector<LedgerChange> EndSweep();
  // Removes at most `most` of them before EndSweep(), and adds them to `removed`. Returns true if
  // it must be called again.
  bool SweepSome(std::size_t most, std::vector<LedgerChange>& removed);

  // An audit compares the held objects with a list of stored ones, and changes nothing: objects
  // that are Set(), SetUnknown() or sighted since then count as seen. Not during a relist. From now
  // on each kept sum is compared once with a sum from facts.
  void BeginAudit();
  // Returns how many kept sums were wrong since the last call, and were set right. Each is a bug.
  std::size_t TakeWrongSums();
  enum class Sighting : std::uint8_t { kMissing, kOtherVersion, kSame };
  // The object is stored in this version.
  Sighting Sight(std::string_view ns, const Uid& uid, VersionMark version);
  // Passes the next objects after `place` that were not seen to `visit`, which must not change the
  // ledger. Visits whole namespaces until `objects` objects were checked. Returns false if there
  // are no more. Begin with a place of 0; the ledger may change between two calls.
  bool VisitUnseen(std::size_t& place, std::size_t objects,
                   const std::function<void(std::string_view ns, const Uid& uid)>& visit) const;

  // Applies changes that come with time alone (LaterFacts) up to `now`, at most `most` of them, and
  // returns them. NextExpiry() tells whether there are more.
  std::vector<LedgerChange> Expire(base::WallTime now,
                                   std::size_t most = std::numeric_limits<std::size_t>::max());
  [[nodiscard]] std::optional<base::WallTime> NextExpiry() const;

  // The usage of all matching objects of the space under `names` (names that the evaluator owns).
  // The result has every name, also with zero. Costs the number of tied objects that changed, or
  // whose owners changed, since the last call; at the first call with these arguments, after a
  // change of classes, and if it was not called for long, also the number of distinct facts in the
  // space, and of distinct pairs of tied objects' facts and their owners'. Errors, with the reason,
  // if a matching object of the space uses an unknown amount under one of the names: kNotFound if
  // its class is missing, else kMalformed.
  [[nodiscard]] base::Result<ResourceList> Sum(const Space& space, const ScopeSelector& selector,
                                               const std::vector<std::string>& known_scopes,
                                               const std::vector<std::string>& names,
                                               const Beside& beside = {}) const;
  // The same as far as it is known: without the amounts that cannot be read of objects, and those
  // of classes that are missing.
  [[nodiscard]] LeastUsage Least(const Space& space, const ScopeSelector& selector,
                                 const std::vector<std::string>& known_scopes,
                                 const std::vector<std::string>& names,
                                 const Beside& beside = {}) const;
  // The usage of one object with these facts and this tie under all names: what it adds to the sum.
  // `tie` is null for an object that is not tied; FindTie() returns that of a held one.
  [[nodiscard]] base::Result<ResourceList> UsageOf(std::string_view ns, const Facts& facts,
                                                   const Tie* tie, const Beside& beside) const;
  // True if facts of objects in the space refer to one of these classes.
  [[nodiscard]] bool RefersToAny(const Space& space, const std::set<std::string>& classes) const;

  // The object exists, whether or not its usage can be read.
  [[nodiscard]] bool Holds(std::string_view ns, const Uid& uid) const;
  // Another object than this one may be held under this name: its mark is the same. Costs a few
  // instructions for eight objects of the namespace.
  [[nodiscard]] bool MayHoldOther(std::string_view ns, NameMark name, const Uid& uid) const;
  // Its version; kNoVersion: it is not held.
  [[nodiscard]] VersionMark VersionOf(std::string_view ns, const Uid& uid) const;
  // The held facts of one object; null if it is not held or unknown.
  [[nodiscard]] std::shared_ptr<const Facts> Find(std::string_view ns, Uid uid) const;
  [[nodiscard]] const Tie* FindTie(std::string_view ns, const Uid& uid) const;  // null: not tied
  [[nodiscard]] std::size_t size() const;            // objects, all namespaces
  [[nodiscard]] std::size_t distinct_facts() const;  // interned values alive
  [[nodiscard]] std::size_t namespaces() const;      // with at least one object
  void Clear();                                      // keeps the groups

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quota
