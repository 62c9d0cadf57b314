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
#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace admission {

// What an admitted object may use of one quota.
struct Grant {
  const quota::Evaluator* evaluator = nullptr;
  quota::Uid uid;
  quota::Charge charge;
  quota::Charge before;  // what covered it earlier; empty: nothing
  std::string version;   // of the stored object that the growth is reckoned from; "": there is none
  std::uint64_t number = 0;  // its own, of all that this process grants
  // The versions that other calls for the object are about, which are answered by this charge.
  std::vector<std::string> others = {};
};

class QuotaBook {
 public:
  virtual ~QuotaBook() = default;
  // True if the quotas are listed and followed: what InNamespace() says is what is stored, but for
  // the time an event takes.
  [[nodiscard]] virtual bool Current() const = 0;
  [[nodiscard]] virtual std::vector<const quota::Quota*> InNamespace(std::string_view ns) const = 0;
  // The charge that a call about this version of the object may be answered by; it is held until
  // that version is history. Null: the object is not charged to this quota.
  [[nodiscard]] virtual const quota::Charge* Cover(const quota::Quota& quota, const quota::Uid& uid,
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

  // Writes `used`, guarded by the version of `quota`, and holds the charges. An answer that was
  // lost is looked up. Errors: kConflict when the quota changed or went, with the newest version
  // read and known; else what kept the write from being made.
  virtual base::Task<base::Result<void>> Charge(quota::Quota quota, quota::ResourceList used,
                                                std::vector<Grant> grants,
                                                base::TimePoint deadline) = 0;
  // A charge of ours will not be used after all: it is `grant.before` again, and the quota is
  // recounted. No-op if the quota is gone.
  virtual void Release(const api::ObjectKey& key, const Grant& grant) = 0;
  // Reads the namespace's quotas live, for when Current() is false. Errors: they cannot be read.
  virtual base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) = 0;
};

}  // namespace admission
