#pragma once

// Compares the ledger of one resource with a fresh list while its watch continues, and repairs
// differences. drift_finder.h decides what differs; this reads.
//
// Single-threaded. Constructor arguments must outlive it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "controllers/usage/drift_finder.h"
#include "controllers/usage/shared_watch.h"

namespace controllers {

class LedgerResync {
 public:
  // kVersions compares versions, and reads objects in full if they differ. kWhole reads all objects
  // in full, and makes the facts of the same version anew: after the wall clock was set, for
  // names that facts lack, or after the rules of the server changed.
  enum class Depth : std::uint8_t { kVersions, kWhole };
  // The objects of the ledger. `count` puts one into it, and reports what that changes.
  struct Objects {
    std::function<base::Result<quota::ObjectFacts>(const json::Value& object)> facts_of;
    std::function<void(const json::Value& object)> count;
    std::function<void(const quota::LedgerChange& change)> report;
  };

  // `list` reads all objects in full.
  LedgerResync(const TrackingContext& context, informers::ReflectorOptions list,
               quota::Ledger& ledger, Objects objects);

  // The watch has shown this object, or its deletion.
  void OnEvent(const quota::Uid& uid) {
    if (drift_) drift_->OnEvent(uid);
  }
  // The resource relists, which finds what a resync is looking for. What that still reads concerns
  // nobody, also if another one runs then.
  void Abandon() { drift_.reset(); }
  [[nodiscard]] bool running() const { return drift_ != nullptr; }

  // Repairs and reports drift. nullopt if it was abandoned. If there are suspects, it waits
  // `settle` for the watch. Errors: a list failed, and nothing was changed. REQUIRES: not
  // running().
  base::Task<base::Result<std::optional<DriftReport>>> Run(base::Duration settle, Depth depth);

 private:
  using SharedDrift = std::shared_ptr<DriftFinder>;
  base::Task<base::Result<void>> ListVersions(SharedDrift drift, Depth depth);
  void TakeListed(const SharedDrift& drift, const json::Value& object, Depth depth);
  base::Task<base::Result<void>> ReadSuspects(SharedDrift drift);
  void TakeRead(const SharedDrift& drift, const json::Value& object);

  const TrackingContext& context_;
  const informers::ReflectorOptions list_;
  quota::Ledger& ledger_;
  const Objects objects_;
  SharedDrift drift_;  // of the resync that is running
};

}  // namespace controllers
