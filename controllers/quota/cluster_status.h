#pragma once

// What the status of a ClusterQuota says beside hard and used: its place in the tree, what may
// still be used, and conditions.
//
// What follows from the status of other quotas (available) or takes long to find (largest) is
// written with something else, or once in a while: one object must not write a thousand quotas.
// No I/O; one thread. What it refers to outlives it.

#include <string>
#include <vector>

#include "controllers/quota/cluster_reach.h"
#include "controllers/quota/largest_namespaces.h"
#include "controllers/quota/quota_reporter.h"
#include "controllers/quota/quota_store.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace controllers {

// A condition as it is to be.
struct QuotaCondition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
};

// `stored` with these conditions in it. One that says the same as before stays as it is; the time
// of its last transition is that of a change of its status.
json::Array WithConditions(const json::Value* stored, const std::vector<QuotaCondition>& wanted,
                           const std::string& now);

class ClusterStatus {
 public:
  ClusterStatus(const ClusterReach& reach, const QuotaStore& store, const QuotaReporter& reporter,
                const LargestNamespaces& largest)
      : reach_(reach), store_(store), reporter_(reporter), largest_(largest) {}

  // The members beside `desired`, of which `unknown` could not be counted. What cannot be said now
  // is left out.
  [[nodiscard]] json::Object Of(const quota::Quota& quota, const quota::QuotaStatus& desired,
                                const std::vector<std::string>& unknown, base::WallTime now) const;
  // True if `desired` differs from what is stored in more than what can wait.
  static bool IsUrgent(const json::Object& stored, const json::Object& desired);
  // How long what can wait does.
  [[nodiscard]] base::Duration PeriodOf(const quota::Quota& quota) const;
  // The quotas directly below: what they say follows from the status of this one.
  [[nodiscard]] std::vector<api::ObjectKey> ChildrenOf(const quota::Quota& quota) const;

 private:
  [[nodiscard]] json::Object Available(const quota::Quota& quota,
                                       const quota::QuotaStatus& desired) const;
  [[nodiscard]] QuotaCondition Ready(const quota::Quota& quota, const QuotaCondition& stale) const;
  [[nodiscard]] QuotaCondition Stale(const quota::Quota& quota,
                                     const std::vector<std::string>& unknown) const;

  const ClusterReach& reach_;
  const QuotaStore& store_;
  const QuotaReporter& reporter_;
  const LargestNamespaces& largest_;
};

}  // namespace controllers
