#pragma once

// What admission knows of the quotas of one quota API, and how it reserves usage of them (see
// pkg/accounting/DESIGN.md). Implemented where the quotas are.
//
// Single-threaded. Pointers are valid until the next suspension.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace admission {

// What an admitted object may use of one quota.
struct Grant {
  const quota::Evaluator* evaluator = nullptr;
  std::string ns = {};  // of the object
  quota::Uid uid;
  quota::ResourceList usage;   // in all
  quota::ResourceList stored;  // what it uses as stored, in the version below
  quota::ResourceList added;   // at most: what `used` lacks for it, as it was planned
  bool extends = false;        // what is reserved for the object already
  std::string version;         // of the stored object that the request starts from; "": a creation
  std::uint64_t number = 0;    // its own, of all that this process grants
  // The versions that other requests for the object start from, which this grant answers, too.
  std::vector<std::string> others = {};
};

// What is to be reserved of one quota.
struct ReservePlan {
  quota::Quota quota;  // as it was when this was decided
  std::vector<Grant> grants;
  // What was reserved for a burst, and not granted yet, when this was decided.
  quota::ResourceList burst = {};
  bool from_burst = false;  // the grants fit into it: no write is needed

  // What the grants add, in all. Errors: it does not fit.
  [[nodiscard]] base::Result<quota::ResourceList> Added() const {
    quota::ResourceList added;
    for (const Grant& grant : grants) {
      const auto sum = added.Add(grant.added);
      if (!sum) return sum.error();
    }
    return added;
  }
};

// A quota to decide by.
struct BookedQuota {
  const quota::Quota* quota = nullptr;                // its `used` is what decisions start from
  const accounting::ReservationList* list = nullptr;  // what is reserved; null: nothing
  quota::ResourceList burst = {};                     // of that: for creations to come
  std::string above = {};                             // TreePlace::above
};

class QuotaBook {
 public:
  virtual ~QuotaBook() = default;
  // Makes what Quotas() says what is stored, but for the time an event takes: by a live read, where
  // the quotas cannot be followed. Errors: they cannot be read either.
  virtual base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) = 0;
  // In the order in which they are asked.
  [[nodiscard]] virtual std::vector<BookedQuota> Quotas(std::string_view ns) const = 0;
  // Where these quotas are in a tree, as Standing::tree of the same order; none if they have none.
  [[nodiscard]] virtual std::vector<quota::TreePlace> PlacesOf(
      const std::vector<BookedQuota>& /*quotas*/) const {
    return {};
  }
  // Whose requests are decided together: those of namespaces with the same writer. Quotas of two
  // writers differ, but for a moment after quotas or namespaces changed.
  [[nodiscard]] virtual std::string WriterOf(std::string_view ns) { return std::string(ns); }
  // False: no quota limits anything there, and no Refresh() would find one.
  [[nodiscard]] virtual bool MayLimit(std::string_view /*ns*/) const { return true; }

  // What a young reservation of this process lets the object use, for a request from this version.
  // Null: there is none.
  [[nodiscard]] virtual const quota::ResourceList* Reserved(const quota::Quota& quota,
                                                            const quota::Uid& uid,
                                                            std::string_view version) const = 0;
  // One more request is answered by that. The number of the grant, for Withdraw(); 0: there is none
  // any more.
  virtual std::uint64_t Rely(const quota::Quota& quota, const quota::Uid& uid,
                             std::string_view version) = 0;

  // Grants from the burst. False: the quota or its burst is not what it was.
  [[nodiscard]] virtual bool Draw(const ReservePlan& plan) = 0;
  // Raises `used` and adds the entries, by one write that is guarded by the version of `quota`. A
  // write whose answer was lost is looked up. Whatever comes of it, nothing more is granted from
  // the burst there was. Errors: kConflict when the quota changed or went, with the newest version
  // read and known; else what kept the write from being made.
  virtual base::Task<base::Result<void>> Reserve(ReservePlan plan, base::TimePoint deadline) = 0;
  // A request that relied on this grant will not use it after all. Once no other does, what was
  // reserved is taken back.
  virtual void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) = 0;
};

}  // namespace admission
