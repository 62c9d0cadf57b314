#pragma once

// Compares a ledger with a fresh list of the same collection while its watch continues.
//
// The list contains metadata. If an object has the resourceVersion that the ledger has, it is
// equal. Otherwise it is a suspect, because the watch may only lag: an event for the object clears
// it. The caller reads the remaining suspects in full some seconds after the list. If the facts
// differ as well, this is drift, and the ledger is repaired. Objects with an event during the list
// are skipped, because a page may be older than what the watch has shown since.
//
// OnListed()… → LookForVanished()… → OnRead()… → Settle()…; LookForVanished() and Settle() work in
// steps, between which the event loop runs other work. No I/O, one thread. The ledger must outlive
// it, and must not begin a relist meanwhile.

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/quota/ledger.h"

namespace controllers {

struct DriftReport {
  quota::Drift drift;
  std::size_t listed = 0;
  quota::ResourceList usage;                 // for each name, the sum of the absolute differences
  std::vector<quota::LedgerChange> changes;  // the repairs, to be reported to the quotas
};

class DriftFinder {
 public:
  explicit DriftFinder(quota::Ledger& ledger) : ledger_(ledger) { ledger_.BeginAudit(); }

  // The watch has shown this object since the list began.
  void OnEvent(const quota::Uid& uid);
  // The list has this object in this version. With kNoVersion the object is always read in full.
  void OnListed(api::ObjectKey object, const quota::Uid& uid, quota::VersionMark version);
  // The list starts over.
  void OnRestart();
  // Call when the list is complete. Finds objects that it lacks. True: call again.
  bool LookForVanished();

  [[nodiscard]] bool HasSuspects() const { return !suspects_.empty(); }
  // Returns at most `most` suspects that must still be read in full.
  [[nodiscard]] std::vector<api::ObjectKey> Unread(std::size_t most) const;
  [[nodiscard]] bool IsUnread(const quota::Uid& uid) const;
  // A suspect was read and has these facts. A suspect that is never read (deleted again, or
  // unreadable) stays unchanged in the ledger.
  void OnRead(const quota::Uid& uid, quota::ObjectFacts facts, quota::VersionMark version);
  // Repairs some of the remaining suspects, and adds the repairs to `report`. True: call again.
  bool Settle(DriftReport& report);

 private:
  struct Suspect {
    api::ObjectKey object;
    bool listed = false;                      // false: in the ledger, but not in the list
    std::optional<quota::ObjectFacts> facts;  // once it was read
    quota::VersionMark version = quota::kNoVersion;
  };
  // Puts a listed suspect that was read into the ledger.
  std::optional<quota::LedgerChange> Hold(const quota::Uid& uid, Suspect& suspect);
  [[nodiscard]] bool IsHeld(const Suspect& suspect, const quota::Uid& uid) const;

  quota::Ledger& ledger_;
  std::unordered_set<quota::Uid, quota::UidHash> touched_;
  std::unordered_map<quota::Uid, Suspect, quota::UidHash> suspects_;
  std::size_t listed_count_ = 0;
  std::size_t vanished_place_ = 0;  // where LookForVanished() continues
};

}  // namespace controllers
