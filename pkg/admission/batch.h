#pragma once

// Plans one batch of a writer: decides its requests in order, each on top of what the earlier ones
// add, with at most one write of each quota. A pure function; no I/O.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

// The quotas that decide the requests of a batch. Valid as long as the quotas are.
class BatchQuotas {
 public:
  // The quotas of one namespace, in the order in which they judge a request.
  struct OfNamespace {
    std::vector<std::size_t> quotas;  // indices of all()
    std::vector<std::string> above;   // TreePlace::above of each; empty without ClusterQuotas
  };
  // `ns` must outlive this. REQUIRES: the namespace was not added yet.
  const OfNamespace& Add(std::string_view ns, std::vector<BookedQuota> quotas);
  // Null: the namespace was not added. The result is valid as long as this.
  [[nodiscard]] const OfNamespace* Find(std::string_view ns) const;
  // Returns the quotas of all namespaces, each once. TreePlace::parent is an index of this list.
  [[nodiscard]] const std::vector<BookedQuota>& all() const { return all_; }

 private:
  std::vector<BookedQuota> all_;
  std::map<const quota::Quota*, std::size_t> index_;  // of all_; empty with one namespace
  std::map<std::string_view, OfNamespace> of_;
};

struct BatchRequest {
  const quota::Request* request = nullptr;
  std::string_view ns;
  const BatchQuotas::OfNamespace* by = nullptr;  // of `ns`
};

struct PlannedGrants : ReservePlan {
  // Which requests rely on which of the grants. Both members are indices.
  struct Relying {
    std::size_t member = 0;
    std::size_t grant = 0;
  };
  std::vector<Relying> relying;
  // The index of the write that must be made before this one; nullopt: it waits for none. What a
  // quota uses of its guarantee is then in `used` of its parent before it is in its own: a replica
  // that reads both in between would take the rest of the guarantee for smaller than it is.
  std::optional<std::size_t> after = {};
};

struct BatchPlan {
  std::vector<quota::Verdict> verdicts;            // one for each request
  std::vector<std::vector<std::string>> warnings;  // quota::NearLimits() of those that fit
  std::vector<PlannedGrants> grants;               // at most one write of each quota
};

// If two requests of the batch are for one object, it gets one grant. Dry runs are judged like
// other requests, and add nothing. The unused part of a burst counts as free. Creations that fit
// into it need no write.
BatchPlan PlanBatch(const std::vector<BatchRequest>& requests, const BatchQuotas& quotas);

}  // namespace admission
