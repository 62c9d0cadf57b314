#pragma once

// What one turn of a namespace's writer decides: requests in order, each against what the earlier
// ones add, and at most one write to each quota. A pure function; no I/O.

#include <functional>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

struct PlannedWrite : ReservePlan {
  // The requests that need it, by index, ascending; the grants are theirs, in the same order.
  std::vector<std::size_t> members;
  // Further requests that are answered by a grant: both by index.
  struct Relying {
    std::size_t member = 0;
    std::size_t grant = 0;
  };
  std::vector<Relying> relying = {};
};

// A request that may be answered by what is reserved for its object already, if it is admitted.
struct Answered {
  std::size_t member = 0;  // by index
  const quota::Quota* quota = nullptr;
};

struct BatchPlan {
  std::vector<quota::Verdict> verdicts;            // one for each request
  std::vector<std::vector<std::string>> warnings;  // of those that fit, see quota::NearLimits()
  std::vector<PlannedWrite> writes;
  std::vector<Answered> answered;
};

// As QuotaBook::Reserved().
using OwnReserved = std::function<const quota::ResourceList*(const quota::Quota& quota,
                                                             const quota::Request& request)>;

// An object that two requests of the batch are about is granted once. Dry runs are judged like the
// others, and add nothing. What was reserved for a burst counts as not used; creations that fit
// into it need no write.
BatchPlan PlanBatch(const std::vector<const quota::Request*>& requests,
                    const std::vector<BookedQuota>& quotas, const OwnReserved& answer_of);

}  // namespace admission
