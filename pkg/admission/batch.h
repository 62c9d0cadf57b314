#pragma once

// What one turn of a namespace's writer decides: requests in order, each against what the earlier
// ones add, and at most one charge to each quota. A pure function; no I/O.

#include <functional>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

struct PlannedCharge : ChargePlan {
  // The requests that need it, by index, ascending; the grants are theirs, in the same order.
  std::vector<std::size_t> members;
  // Further requests that are answered by a grant: both by index.
  struct Relying {
    std::size_t member = 0;
    std::size_t grant = 0;
  };
  std::vector<Relying> relying = {};
};

// A request that may be answered by what covers its object already, if it is admitted.
struct Covered {
  std::size_t member = 0;  // by index
  const quota::Quota* quota = nullptr;
};

struct BatchPlan {
  std::vector<quota::Verdict> verdicts;            // one for each request
  std::vector<std::vector<std::string>> warnings;  // of those that fit, see quota::NearLimits()
  std::vector<PlannedCharge> charges;
  std::vector<Covered> covered;
};

// What covers an object's use of a quota before this batch; null: nothing.
using CoveringOf =
    std::function<const quota::Charge*(const quota::Quota& quota, const quota::Request& request)>;

// What was charged to a quota in advance, and can be granted.
using AdvanceOf = std::function<quota::ResourceList(const quota::Quota& quota)>;

// An object that two requests of the batch are about is charged once. Dry runs are judged like the
// others, and add nothing. What was charged in advance counts as not used; creations that fit into
// it need no write.
BatchPlan PlanBatch(const std::vector<const quota::Request*>& requests,
                    const std::vector<const quota::Quota*>& quotas, const CoveringOf& covering_of,
                    const AdvanceOf& advance_of);

}  // namespace admission
