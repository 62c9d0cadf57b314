#pragma once

// What admission knows of the quotas of one quota API, and how it charges them. Implemented by the
// quota controller, which owns the quotas, the ledgers and the charges: what one of the two writes,
// the other never mistakes for somebody else's.
//
// Single-threaded. Pointers are valid until the next suspension.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/quota/advance.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace admission {

// What an admitted object may use of one quota.
struct Grant {
  const quota::Evaluator* evaluator = nullptr;
  quota::Uid uid;
  quota::Charge charge;
  bool covered = false;  // by an earlier charge, in part
  std::string version;   // of the stored object that the growth is reckoned from; "": there is none
  std::uint64_t number = 0;  // its own, of all that this process grants
  // The versions that other calls for the object are about, which are answered by this charge.
  std::vector<std::string> others = {};
};

// What is to be charged to one quota.
struct ChargePlan {
  quota::Quota quota;        // as it was when this was decided
  quota::ResourceList used;  // to become status.used
  std::vector<Grant> grants;
  // What of `quota.status.used` was charged in advance. All of it goes by this write, what the
  // grants do not use is given back; or the plan is prepaid: they take their part, without a write.
  quota::ResourceList advance = {};
  bool prepaid = false;

  // What the grants add, in all. Errors: it does not fit.
  [[nodiscard]] base::Result<quota::ResourceList> Added() const {
    quota::ResourceList added;
    for (const Grant& grant : grants) {
      const auto sum = added.Add(grant.charge.added);
      if (!sum) return sum.error();
    }
    return added;
  }
};

class QuotaBook {
 public:
  virtual ~QuotaBook() = default;
  // True if the quotas are listed and followed: what InNamespace() says is what is stored, but for
  // the time an event takes.
  [[nodiscard]] virtual bool Current() const = 0;
  [[nodiscard]] virtual std::vector<const quota::Quota*> InNamespace(std::string_view ns) const = 0;
  // The charge that a call about this version of the object may be answered by. Null: the object is
  // not charged to this quota.
  [[nodiscard]] virtual const quota::Charge* Covering(const quota::Quota& quota,
                                                      const quota::Uid& uid,
                                                      std::string_view version) const = 0;
  // Such a call relies on it from now on: it is held until that version is history. The number of
  // the grant, for Release(); 0: there is nothing to release.
  virtual std::uint64_t Cover(const quota::Quota& quota, const quota::Uid& uid,
                              std::string_view version) = 0;
  // The classes that the evaluator reads; null: none, or not known.
  [[nodiscard]] virtual const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const = 0;
  // What an object with these facts uses, its class resolved, and what its owner uses already taken
  // away. Errors: that cannot be said at all.
  [[nodiscard]] virtual base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const = 0;

  // True if the object is known to have been stored in a later version than this one, so that no
  // update which starts from it can be stored.
  [[nodiscard]] virtual bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                                      std::string_view resource_version) const = 0;

  // What one unit of this class uses, read live: a class may be younger than what our watch has
  // shown. Errors: kNotFound if the server says that there is none; else it could not be asked.
  virtual base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                                std::string name,
                                                                base::TimePoint deadline) = 0;

  // What was charged to this quota in advance, and can be granted to creations.
  [[nodiscard]] virtual quota::ResourceList AdvanceOf(const quota::Quota& quota) const = 0;
  // Holds the charges of a prepaid plan. False: the quota or its advance is not what it was.
  [[nodiscard]] virtual bool Draw(const ChargePlan& plan) = 0;

  // Writes `used`, guarded by the version of `quota`, and holds the charges. An answer that was
  // lost is looked up. Whatever comes of it, the advance there was is no more. Errors: kConflict
  // when the quota changed or went, with the newest version read and known; else what kept the
  // write from being made.
  virtual base::Task<base::Result<void>> Charge(ChargePlan plan, base::TimePoint deadline) = 0;
  // A call for the object that relied on this grant will not use it after all: once no other does,
  // the charge is what it was before, and the quota is recounted. No-op if the quota is gone.
  virtual void Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) = 0;
  // Reads the namespace's quotas live, for when Current() is false. Errors: they cannot be read.
  virtual base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) = 0;
};

}  // namespace admission
