#pragma once

// The fields of a ClusterQuota's status beside hard and used: its place in the tree, what is
// available, and conditions.
//
// `available` depends on the statuses of other quotas, and `largest` takes long to compute, so they
// wait for other changes, or for a while. No I/O; one thread. All references must outlive it.

#include <optional>
#include <string>
#include <vector>

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/cluster/cluster_reach.h"
#include "controllers/quota/cluster/largest_namespaces.h"
#include "controllers/quota/events/enforcement_watch.h"
#include "controllers/quota/events/quota_reporter.h"
#include "controllers/quota/events/status_conditions.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quota/decision.h"

namespace controllers {

class ClusterStatus {
 public:
  struct Times {
    base::TimePoint now;
    base::WallTime wall;
  };
  // A missing part of a guarantee is reported after this time.
  static constexpr base::Duration kLasts = std::chrono::seconds(10);

  ClusterStatus(const ClusterReach& reach, const QuotaStore& store, const QuotaReporter& reporter,
                const LargestNamespaces& largest, const QuotaControllerOptions& options)
      : reach_(reach), store_(store), reporter_(reporter), largest_(largest), options_(options) {}

  // Returns the fields beside `desired`. The names in `unknown` could not be counted, and admission
  // does not guard those in `unguarded` yet, in some namespace. A field whose value is unknown now
  // is left out. `missing_since` keeps state of this quota between calls.
  [[nodiscard]] json::Object Of(const quota::Quota& quota, const quota::QuotaStatus& desired,
                                const std::vector<std::string>& unknown,
                                const std::vector<std::string>& unguarded, Times times,
                                std::optional<base::TimePoint>& missing_since) const;
  // True if `desired` differs from the stored status in a field that may not wait for the next
  // write of `used`.
  static bool IsUrgent(const quota::Quota& quota, json::Object desired);
  // How long the fields wait that may wait.
  [[nodiscard]] base::Duration PeriodOf(const quota::Quota& quota) const;

 private:
  [[nodiscard]] std::vector<quota::Standing> WayUp(const quota::Quota& own) const;
  [[nodiscard]] std::vector<std::string> ExemptIn(const quota::Quota& quota) const;
  // `quota` has the status that is about to be written.
  [[nodiscard]] QuotaCondition Ready(const quota::Quota& quota, const QuotaCondition& stale,
                                     const quota::ResourceList& missing, bool lasts,
                                     const std::vector<std::string>& unguarded) const;
  // The condition of a quota that has everything that it needs.
  [[nodiscard]] QuotaCondition Counted(const quota::Quota& quota) const;
  [[nodiscard]] QuotaCondition Stale(const quota::Quota& quota,
                                     const std::vector<std::string>& unknown) const;

  const ClusterReach& reach_;
  const QuotaStore& store_;
  const QuotaReporter& reporter_;
  const LargestNamespaces& largest_;
  const QuotaControllerOptions& options_;
};

}  // namespace controllers
