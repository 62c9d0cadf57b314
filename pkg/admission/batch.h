#pragma once

// What one turn of a writer decides: requests in order, each against what the earlier
// ones add, and at most one write to each quota. A pure function; no I/O.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

// The quotas that the requests of a batch are decided by. Valid as long as they are.
class BatchQuotas {
 public:
  // Those that reach one namespace, in the order in which they are asked.
  struct OfNamespace {
    std::vector<std::size_t> quotas;  // indices of all()
    std::vector<std::string> above;   // TreePlace::above of each; none if all are ""
  };
  // The name outlives this. REQUIRES: they were not added yet.
  const OfNamespace& Add(std::string_view ns, std::vector<BookedQuota> quotas);
  // Null: they were not added. Valid as long as this.
  [[nodiscard]] const OfNamespace* Find(std::string_view ns) const;
  // Each once.
  [[nodiscard]] const std::vector<BookedQuota>& all() const { return all_; }

 private:
  std::vector<BookedQuota> all_;
  std::map<const quota::Quota*, std::size_t> index_;  // of all_, from the second namespace on
  std::map<std::string_view, OfNamespace> of_;
};

struct BatchRequest {
  const quota::Request* request = nullptr;
  std::string_view ns;
  const BatchQuotas::OfNamespace* by = nullptr;  // of `ns`
};

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
// into it need no write. `places`: as QuotaBook::PlacesOf().
BatchPlan PlanBatch(const std::vector<BatchRequest>& requests, const BatchQuotas& quotas,
                    std::vector<quota::TreePlace> places, const OwnReserved& answer_of);

}  // namespace admission
