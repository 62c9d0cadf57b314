#pragma once

// Plans one batch of a writer: decides its requests in order, each on top of what the earlier ones
// add, with at most one write of each quota. A pure function; no I/O.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/quota/decision.h"

namespace admission {

// The quotas that decide the requests of a batch. Valid as long as the quotas are.
class BatchQuotas {
 public:
  // The quotas of one quota API in one namespace, in the order in which they judge a request.
  struct OfNamespace {
    std::vector<std::size_t> quotas;  // indices of all()
    std::vector<std::string> above;   // TreePlace::above of each; empty without ClusterQuotas
  };
  // `source` is an index of the caller. `ns` must outlive this. REQUIRES: they were not added yet.
  const OfNamespace& Add(std::size_t source, std::string_view ns, std::vector<BookedQuota> quotas);
  // Null: they were not added. The result is valid as long as this.
  [[nodiscard]] const OfNamespace* Find(std::size_t source, std::string_view ns) const;
  // Returns the quotas of all namespaces, each once. TreePlace::parent is an index of this list.
  [[nodiscard]] const std::vector<BookedQuota>& all() const { return all_; }

 private:
  std::vector<BookedQuota> all_;
  std::map<const quota::Quota*, std::size_t> index_;  // of all_; empty with one namespace
  std::map<std::pair<std::size_t, std::string_view>, OfNamespace> of_;
};

// What a request asks of the quotas of one quota API.
struct BatchAsk {
  std::size_t source = 0;  // the quota API: an index of the caller
  const quota::Request* request = nullptr;
  const BatchQuotas::OfNamespace* by = nullptr;  // of `source` and the namespace of the request
};

struct BatchRequest {
  std::string_view ns;
  // All are about one object and from one version. No two have a quota in common.
  std::vector<BatchAsk> asks;
};

struct PlannedGrants : ReservePlan {
  std::size_t source = 0;  // of the quota
  // The indices of the requests that need the grants, ascending. The grants have the same order.
  std::vector<std::size_t> members;
  // Further requests that a grant answers, too. Both members are indices.
  struct Relying {
    std::size_t member = 0;
    std::size_t grant = 0;
  };
  std::vector<Relying> relying = {};
};

// What the quotas of one quota API say about a request.
struct Judgement {
  std::size_t source = 0;
  quota::Verdict verdict;
  std::vector<std::string> warnings = {};  // quota::NearLimits() if it fits
};

// What all its quotas say about a request.
struct Decision {
  // One of each ask; of a refused request only the one that refuses.
  std::vector<Judgement> judgements;

  [[nodiscard]] bool Is(quota::Verdict::Kind kind) const {
    return std::ranges::any_of(judgements,
                               [kind](const auto& one) { return one.verdict.kind == kind; });
  }
};

struct BatchPlan {
  std::vector<Decision> decisions;    // one for each request
  std::vector<PlannedGrants> grants;  // at most one write of each quota
};

// A request that the quotas of one quota API refuse adds nothing to those of another. If two
// requests of the batch are for one object, it gets one grant. Dry runs are judged like
// other requests, and add nothing. The unused part of a burst counts as free. Creations that fit
// into it need no write.
BatchPlan PlanBatch(const std::vector<BatchRequest>& requests, const BatchQuotas& quotas);

}  // namespace admission
