#pragma once

// Compares a ledger with a fresh list of the same collection while its watch goes on.
//
// The list is of metadata: an object whose resourceVersion is the one that is held needs no second
// look. Each other one is a suspect, and drift only if that is not just the watch's lag: an event
// that touches the object clears it. What is still suspected some seconds after the list is read in
// full, and where its facts differ, too, it is repaired. Objects that events touch while the list
// is read are left to the events: a page may be older than what the watch has shown since.
//
// OnListed()… → LookForVanished()… → OnRead()… → Settle()…, each of the latter in steps that others
// have the loop between. No I/O, one thread. The ledger outlives it; no relist of it begins
// meanwhile.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pkg/quota/ledger.h"

namespace controllers {

struct DriftReport {
  quota::Drift drift;
  std::size_t listed = 0;
  quota::ResourceList usage;                 // per name, the sum of the absolute differences
  std::vector<quota::LedgerChange> changes;  // the repairs, for the quotas they concern
};

class DriftFinder {
 public:
  explicit DriftFinder(quota::Ledger& ledger) : ledger_(ledger) { ledger_.BeginAudit(); }

  struct Object {
    std::string ns;
    std::string name;
  };

  // The watch showed this object since the list began.
  void OnEvent(const quota::Uid& uid);
  // The list has this object in this version; kNoVersion: whatever version is held, it is read.
  void OnListed(Object object, const quota::Uid& uid, quota::VersionMark version);
  // The list starts over.
  void OnRestart();
  // The list is complete: looks for what it lacks. True: call again.
  bool LookForVanished();

  [[nodiscard]] bool HasSuspects() const { return !suspects_.empty(); }
  // Suspects that are to be read in full, this many at most.
  [[nodiscard]] std::vector<Object> Unread(std::size_t most) const;
  [[nodiscard]] bool IsUnread(const quota::Uid& uid) const;
  // A suspect has these facts now. One that is never read, because it is gone again or cannot be
  // read, stays as it is held.
  void OnRead(const quota::Uid& uid, quota::ObjectFacts facts, quota::VersionMark version);
  // Repairs some of what is still suspected, and adds to `report` what it was. True: call again.
  bool Settle(DriftReport& report);

 private:
  struct Suspect {
    Object object;
    bool listed = false;  // false: held, but not in the list
    bool read = false;
    quota::ObjectFacts facts;
    quota::VersionMark version = quota::kNoVersion;
  };
  [[nodiscard]] bool IsHeld(const Suspect& suspect, const quota::Uid& uid) const;
  void Repair(const quota::Uid& uid, Suspect suspect, DriftReport& report);

  quota::Ledger& ledger_;
  std::unordered_set<quota::Uid, quota::UidHash> touched_;
  std::unordered_map<quota::Uid, Suspect, quota::UidHash> suspects_;
  std::size_t listed_count_ = 0;
  std::size_t vanished_place_ = 0;  // how far LookForVanished() has come
};

}  // namespace controllers
