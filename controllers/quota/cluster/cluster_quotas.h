#pragma once

// What only quotas need that reach many namespaces. Single-threaded. The tasks of its members must
// have ended before it is destroyed.

#include "controllers/quota/cluster/cluster_reach.h"
#include "controllers/quota/cluster/cluster_status.h"
#include "controllers/quota/cluster/largest_namespaces.h"

namespace controllers {

struct ClusterQuotas {
  // Quotas to recount go into `queue`. All references must outlive it.
  ClusterQuotas(const TrackingContext& context, const StallDetector& stalls,
                ClusterReach::Hooks hooks, const QuotaStore& store, const ObservedUsage& usage,
                const QuotaReporter& reporter, const QuotaControllerOptions& options,
                queue::AsyncQueue<api::ObjectKey>& queue)
      : reach(context, stalls, std::move(hooks)),
        largest(*context.scheduler, reach, store, usage, queue),
        status(reach, store, reporter, largest, options) {}

  ClusterReach reach;
  LargestNamespaces largest;
  ClusterStatus status;
};

}  // namespace controllers
