#pragma once

// The state of a Ledger, and the few moves that keep it consistent. Only the ledger's own sources
// (ledger*.cc) include this.
//
// The state holds one reference to interned facts for each object that has them, and one for each
// pending change to them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/quota/facts_pool.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_groups.h"
#include "pkg/quota/ledger_ties.h"
#include "pkg/quota/uid_table.h"

namespace quota {

// Values of an object in the uid table besides facts ids.
inline constexpr FactsId kNoObject = UidTable::kEmpty;
inline constexpr FactsId kUnknown = kNoObject - 1;

// Facts that an object will have from `at` on.
struct Pending {
  base::WallTime at;
  FactsId facts = kNoObject;
};

// What an event or a list shows of an object besides its facts.
struct Seen {
  VersionMark version = kNoVersion;
  NameMark name = kNoName;
};

struct Namespace {
  Namespace(std::string_view its_name, const FactsPool& its_pool, std::shared_ptr<StaleTies> stale)
      : name(its_name), pool(its_pool), ties(*this, std::move(stale)) {}

  std::string name;
  const FactsPool& pool;  // the ledger's
  UidTable objects;       // uid → facts id or kUnknown, and sweep mark
  Contents contents;
  GroupSet* groups = nullptr;  // null: it belongs to none
  // Why an amount is unknown, by object.
  std::map<Uid, std::string> why;
  std::unordered_map<Uid, Pending, UidHash> pending;  // of objects that change with time alone
  Ties ties;
};

// A namespace is freed with its last object and its id is given out again.
using NamespaceId = std::uint32_t;

// When to look at an object. Stale unless the object's Pending says the same time.
struct Timer {
  base::WallTime at;
  NamespaceId space = 0;
  Uid uid;
  // Orders a heap with the earliest on top.
  bool operator<(const Timer& other) const { return at > other.at; }
};

struct Ledger::State {
  FactsPool pool;
  std::vector<std::unique_ptr<Namespace>> spaces;  // by id; null: free
  std::vector<NamespaceId> free_spaces;
  std::map<std::string, NamespaceId, std::less<>> by_name;  // in order: growing costs no pause
  std::size_t objects = 0;
  GroupTable groups;
  SumAudit audit;

  std::vector<Timer> timers;  // a heap; at most twice the pending changes, and a few
  std::size_t pending = 0;

  std::shared_ptr<FollowedOwners> followed = std::make_shared<FollowedOwners>();
  std::shared_ptr<StaleTies> stale_ties = std::make_shared<StaleTies>();
  std::weak_ptr<FollowedOwners> follows;  // whom all ties that are not stale follow

  std::uint8_t sweep = 1;  // the number of the last sweep begun: the mark of what is seen now
  bool sweeping = false;
  NamespaceId swept = 0;  // the namespaces before this one, by the sweep that is ending

  // From now on seen objects get a mark that no held object has.
  void BeginMarks();

  NamespaceId Open(std::string_view name);
  [[nodiscard]] Namespace* Find(std::string_view name) const;
  void CloseIfEmpty(NamespaceId id);

  // Sets the object's value and, if it was seen, its version, its name and the mark of the sweep;
  // returns the former value. The caller passes in a reference to the new facts, and gets the one
  // to the old facts.
  FactsId Put(Namespace& space, const Uid& uid, FactsId value, std::optional<Seen> seen);
  // Reverts the effect of a removed object's `value` on its namespace, except for its reference.
  void Uncount(Namespace& space, const Uid& uid, FactsId value);
  // The facts of a value; null if it has none. Drop() also gives the reference back.
  [[nodiscard]] std::shared_ptr<const Facts> Look(FactsId value) const;
  std::shared_ptr<const Facts> Drop(FactsId value);

  // The object uses an unknown amount under some name.
  [[nodiscard]] bool IsUnread(FactsId value) const;
  // SetWhy() records the reason; DropWhy() forgets it.
  void SetWhy(Namespace& space, const Uid& uid, std::string why);
  void DropWhy(Namespace& space, const Uid& uid);

  // Sets or removes the object's tie; returns true if that changed it.
  bool SetTie(Namespace& space, const Uid& uid, std::optional<Tie> tie);

  // Null: there are no objects.
  [[nodiscard]] Contents* ContentsOf(const Space& space);
  // `owners` as in Beside.
  [[nodiscard]] SumOfContents Sum(const Space& space, const SumQuestion& question,
                                  const Ledger* owners);
  // Why so many matching objects of the space use an unknown amount under the names of the
  // question. Costs the same however many there are. REQUIRES: unread > 0.
  [[nodiscard]] base::Error WhyUnread(const Space& space, const SumQuestion& question,
                                      std::int64_t unread);

  // Looks up again what tied objects of the space share with their owners.
  void LookUpShared(const Space& space, const Ledger& owners);
  void LookUpShared(Namespace& space, const Ledger& owners) const;

  void Schedule(NamespaceId id, const Uid& uid, std::optional<LaterFacts> later);
  void Unschedule(Namespace& space, const Uid& uid);
  [[nodiscard]] bool IsStale(const Timer& timer) const;
  void PopTimer();
  void DropStaleTimers();
};

}  // namespace quota
