#pragma once

// What one turn of a namespace's writer decides: requests in order, each against what the earlier
// ones add, and at most one write for each quota. A pure function; no I/O.

#include <functional>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

struct PlannedWrite {
  quota::Quota quota;                // as it was read
  quota::ResourceList used;          // to become status.used
  std::vector<std::size_t> members;  // the requests that need it, by index, ascending
  std::vector<Grant> grants;         // theirs, in the same order
};

struct BatchPlan {
  std::vector<quota::Verdict> verdicts;            // one for each request
  std::vector<std::vector<std::string>> warnings;  // of those that fit, see quota::NearLimits()
  std::vector<PlannedWrite> writes;
};

// What covers an object's use of a quota before this batch; null: nothing.
using CoveringOf =
    std::function<const quota::Charge*(const quota::Quota& quota, const quota::Request& request)>;

// An object that two requests of the batch are about is charged once. Dry runs are judged like the
// others, and add nothing.
BatchPlan PlanBatch(const std::vector<const quota::Request*>& requests,
                    const std::vector<const quota::Quota*>& quotas, const CoveringOf& covering_of);

}  // namespace admission
