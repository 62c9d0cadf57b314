#pragma once

// The interface of admission to the quotas of one quota API: reads them and reserves their usage
// (pkg/accounting/DESIGN.md). The quota controller implements it.
//
// Single-threaded. Returned pointers and functions are valid until the next suspension of the
// calling coroutine.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace admission {

// A quota that decides about a request.
struct BookedQuota {
  const quota::Quota* quota = nullptr;                // decisions start from its `used`
  const accounting::ReservationList* list = nullptr;  // the reservations; null: none
  quota::ResourceList burst = {};                     // the unused part of this process's burst
  // The next write should wait until then, so that long lists are not written too often. Once in a
  // batch, at most accounting::WritePace::kLongestWait.
  base::TimePoint not_before = {};
  // Until then it is the turn of other processes to write (accounting::WriteTurn). Look again then.
  base::TimePoint turn = {};
  // Returns the usage that a recent reservation of this process allows the object, if a request
  // from this version caused it. Null: none.
  std::function<const quota::ResourceList*(const quota::Uid& uid, std::string_view version)>
      answer = nullptr;
  // True if this process first granted the creation of the object so long ago that no request for
  // it can be in progress any more. Its reservation must not be renewed.
  std::function<bool(const quota::Uid& uid)> outlasted = nullptr;
  // As quota::Standing::uncounted.
  std::function<quota::Uncounted(const std::vector<std::string>& names)> uncounted = nullptr;
  quota::TreePlace tree = {};  // its `parent` is an index of NamespaceQuotas::quotas
};

// The quotas that reach one namespace.
struct NamespaceQuotas {
  std::vector<BookedQuota> quotas;  // in the order in which they judge a request
  // Requests of namespaces with the same writer are decided together. No quota has two writers,
  // except for a moment after quotas or namespaces changed.
  std::string writer;
  bool complete = true;  // false: Refresh() may find more quotas
};

// The usage of one quota that is granted to an admitted object.
struct Grant {
  const quota::Evaluator* evaluator = nullptr;
  std::string ns = {};  // of the object
  quota::Uid uid;
  quota::ResourceList usage;   // in all
  quota::ResourceList stored;  // usage of the stored object in `version`
  quota::ResourceList added;   // the most that `used` rises by, as computed for the plan
  bool extends = false;        // the object has a reservation already, which this extends
  std::string version;         // of the stored object that the request starts from; "": a creation
  std::uint64_t number = 0;    // unique among the grants of this process
  // The versions that other requests for the object started from, if this grant answers them, too.
  std::vector<std::string> others = {};
};

// The grants of one quota that were planned.
struct ReservePlan {
  enum class From : std::uint8_t {
    kWrite,     // a write that raises `used`
    kBurst,     // the burst, without a write
    kReserved,  // the recent reservation that BookedQuota::answer returned, without a write
  };
  quota::Quota quota;  // as it was when the plan was made
  std::vector<Grant> grants;
  // The unused part of the burst when the plan was made.
  quota::ResourceList burst = {};
  base::TimePoint not_before = {};  // as in BookedQuota
  base::TimePoint turn = {};        // as in BookedQuota
  From from = From::kWrite;
  std::size_t batch = 1;  // the number of requests that were decided together, for all quotas
  quota::ResourceList promised = {};  // to the quotas below; a burst takes nothing of it

  // Returns the sum of Grant::added.
  [[nodiscard]] quota::ResourceList Added() const {
    quota::ResourceList added;
    for (const Grant& grant : grants) added.Add(grant.added);
    return added;
  }
};

// The error of a write whose quota has changed.
inline base::Error Changed(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

class QuotaBook {
 public:
  virtual ~QuotaBook() = default;
  // Ensures that Quotas() returns what is stored, except for the usual lag of a watch. If the watch
  // is interrupted, this reads the quotas from the API server. Errors: they cannot be read.
  virtual base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) = 0;
  [[nodiscard]] virtual NamespaceQuotas Quotas(std::string_view ns) const = 0;
  // What Quotas() would return, as far as it is known without gathering it.
  struct Presence {
    bool any = false;  // there are quotas
    bool complete = true;
  };
  [[nodiscard]] virtual Presence Look(std::string_view ns) const = 0;

  // Returns the quota as it is stored now, without the usage that only its reservations show.
  // Callers at the same time share one read; what it returns was read less than 100 ms before.
  // Errors: also kUnavailable, if too many quotas are read at the same time.
  virtual base::Task<base::Result<quota::Quota>> Read(quota::Quota quota,
                                                      base::TimePoint deadline) = 0;

  // Makes grants that need no write. Returns false if the burst or the reservation of the plan does
  // not exist any more.
  [[nodiscard]] virtual bool Draw(const ReservePlan& plan) = 0;
  // Raises `used` and adds the entries with one write, which has the resourceVersion of `quota`. If
  // the answer is lost, reads the quota to see if the write was made. In any case, nothing more is
  // granted from the previous burst. Errors: kConflict if the quota changed or was deleted; its
  // newest version is known then. Otherwise the reason why the write was not made.
  virtual base::Task<base::Result<void>> Reserve(ReservePlan plan, base::TimePoint deadline) = 0;
  // Call if a request does not use its grant after all. Takes the reservation back, as soon as no
  // other request was granted the same one.
  virtual void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) = 0;
};

}  // namespace admission
