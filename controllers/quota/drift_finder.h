#pragma once

// Compares a ledger with a fresh list of the same collection while its watch goes on.
//
// A difference is drift only if it is not just the watch's lag: so each difference is held as a
// suspect, an event that touches its object clears it, and what is still suspected when Settle() is
// called, some seconds after the list, is drift and is repaired. Objects that events touch while
// the list is read are left to the events: a page may be older than what the watch has shown since.
//
// No I/O, one thread. The ledger outlives it and is changed by Settle() only.

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
  explicit DriftFinder(quota::Ledger& ledger) : ledger_(ledger) {}

  // The watch showed this object since the list began.
  void OnEvent(const quota::Uid& uid);
  // The list has this object with these facts.
  void OnListed(std::string_view ns, const quota::Uid& uid, quota::ObjectFacts facts);
  // The list has this object, but its facts cannot be read; what the ledger has stands.
  void OnListedUnreadable(const quota::Uid& uid);
  // The list starts over.
  void OnRestart();
  // The list is complete.
  void OnListEnd();
  [[nodiscard]] bool HasSuspects() const { return !suspects_.empty(); }
  // Repairs what is still suspected and says what it was. Called once, after OnListEnd().
  DriftReport Settle();

 private:
  struct Suspect {
    std::string ns;
    bool listed = false;  // false: held, but not in the list
    quota::ObjectFacts facts;
  };
  void Repair(const quota::Uid& uid, Suspect suspect, DriftReport& report);

  quota::Ledger& ledger_;
  std::unordered_set<quota::Uid, quota::UidHash> touched_;
  std::unordered_set<quota::Uid, quota::UidHash> listed_;
  std::unordered_map<quota::Uid, Suspect, quota::UidHash> suspects_;
  std::size_t listed_count_ = 0;
};

}  // namespace controllers
