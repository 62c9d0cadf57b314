#pragma once

// Which objects of one tracked resource exist, and what each uses: per namespace uid → facts, and
// facts → number of objects. An event costs O(1); usage is summed over distinct facts, never over
// objects. Full objects are never kept: about 50 bytes an object, all included.
//
// No I/O, one thread. Reads and writes of one call are atomic in that no call suspends.

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
#include "pkg/quota/scope.h"
#include "pkg/quota/uid.h"
#include "pkg/quota/version_mark.h"

namespace quota {

// What a call changed. `before` and `after` are null for "no such object", and for one whose facts
// are unknown; they are the same if only the object's Tie changed.
struct LedgerChange {
  std::string ns;
  Uid uid;
  std::shared_ptr<const Facts> before;
  std::shared_ptr<const Facts> after;
};

// How a fresh list differs from what is held: see BeginSweep().
struct Drift {
  std::size_t missing = 0;    // listed, but not held
  std::size_t vanished = 0;   // held, but not listed
  std::size_t different = 0;  // held with other facts
  [[nodiscard]] std::size_t objects() const { return missing + vanished + different; }
};

class Ledger;

// What facts leave open, for sums.
struct Beside {
  const ClassTable* classes = nullptr;  // null: classes use nothing
  // The owners of tied objects (Tie): what an owner uses under a name is subtracted from what its
  // object uses under it, never below zero. Of several objects of one owner that means none of them
  // only the oldest counts as its own. Null: nothing is subtracted.
  const Ledger* owners = nullptr;
};

class Ledger {
 public:
  Ledger();
  ~Ledger();

  // The object exists and has these facts, in this version of it. nullopt: no fact changed.
  std::optional<LedgerChange> Set(std::string_view ns, Uid uid, ObjectFacts facts,
                                  VersionMark version = kNoVersion);
  // The object exists, but what it uses cannot be read (a malformed object): its namespace is
  // unknown until it is set again or removed.
  std::optional<LedgerChange> SetUnknown(std::string_view ns, Uid uid, std::string why,
                                         VersionMark version = kNoVersion);
  std::optional<LedgerChange> Remove(std::string_view ns, Uid uid);

  // A relist: what is neither Set() nor SetUnknown() between the two calls is removed by
  // EndSweep(), whose answer lists every object removed. BeginSweep() again before that starts
  // over. Nothing is copied for it: each object carries the number of the sweep that saw it last.
  void BeginSweep();
  std::vector<LedgerChange> EndSweep();
  // Removes some of that beforehand, so many objects at most, and adds them to `removed`. True:
  // call again.
  bool SweepSome(std::size_t most, std::vector<LedgerChange>& removed);

  // An audit compares what is held with a list of what is stored, and changes nothing: what is
  // Set(), SetUnknown() or sighted since then has been seen. Not during a relist.
  void BeginAudit();
  enum class Sighting : std::uint8_t { kMissing, kOtherVersion, kSame };
  // The object is stored in this version.
  Sighting Sight(std::string_view ns, const Uid& uid, VersionMark version);
  // Hands the next objects behind `place` that were not seen to `visit`, which must not change the
  // ledger: those of whole namespaces, until so many objects were looked at. False: there are no
  // more. Begins with a place of 0; the ledger may change between two calls.
  bool VisitUnseen(std::size_t& place, std::size_t objects,
                   const std::function<void(std::string_view ns, const Uid& uid)>& visit) const;

  // Objects whose facts changed by time alone (LaterFacts) up to `now`, moved and reported; `most`
  // of them, and NextExpiry() says that there are more.
  std::vector<LedgerChange> Expire(base::WallTime now,
                                   std::size_t most = std::numeric_limits<std::size_t>::max());
  [[nodiscard]] std::optional<base::WallTime> NextExpiry() const;

  // Usage of all objects of the namespace that match, under `names` (those that the evaluator
  // owns): each is present in the answer, zero included. Costs the number of distinct facts in the
  // namespace, and of tied objects there that changed since, or whose owners did. Errors:
  // kMalformed when an object of the namespace, or a class, is unknown (naming why),
  // kInvalidArgument on overflow.
  [[nodiscard]] base::Result<ResourceList> Sum(std::string_view ns, const ScopeSelector& selector,
                                               const std::vector<std::string>& known_scopes,
                                               const std::vector<std::string>& names,
                                               const Beside& beside = {}) const;
  // What one object with these facts uses: its share of the sum, under all names. `tie` is that of
  // an object which is not held, or not yet as it will be; null: as it is held.
  [[nodiscard]] base::Result<ResourceList> UsageOf(std::string_view ns, const Uid& uid,
                                                   const Facts& facts, const Beside& beside,
                                                   const Tie* tie = nullptr) const;
  // True if facts of the namespace's objects refer to one of these classes.
  [[nodiscard]] bool RefersToAny(std::string_view ns, const std::set<std::string>& classes) const;

  // Held facts of one object; null if it is not held or unknown.
  [[nodiscard]] std::shared_ptr<const Facts> Find(std::string_view ns, Uid uid) const;
  [[nodiscard]] const Tie* FindTie(std::string_view ns, const Uid& uid) const;  // null: not tied
  [[nodiscard]] std::size_t size() const;            // objects, all namespaces
  [[nodiscard]] std::size_t distinct_facts() const;  // interned values alive
  [[nodiscard]] std::size_t namespaces() const;      // with at least one object
  void Clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quota
