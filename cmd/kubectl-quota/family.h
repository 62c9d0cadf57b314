#pragma once

// The objects of a namespace that a workload owns, directly or through other owners: its pods, and
// the Events of its controllers. Single-threaded.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/owners.h"
#include "pkg/inspect/why.h"

namespace kubectl_quota {

// True if the pod runs or will run.
bool IsActive(const json::Value& pod);

class Family {
 public:
  // `cluster` must outlive it.
  Family(Cluster& cluster, std::string ns, const json::Value& head);

  // Counts its pods that run or will run.
  base::Task<base::Result<std::int64_t>> CountPods();
  // Returns the topmost owner, which holds its pods.
  base::Task<inspect::ObjectName> TopOf(const json::Value& head);
  // Returns the last refusal in the events of its controllers; nothing, with a warning, if events
  // may not be listed.
  base::Task<std::optional<inspect::Refusal>> LastRefusal();

 private:
  [[nodiscard]] bool IsOwn(const inspect::OwnerRef& ref) const {
    return owners_.Reaches(ref, uid_);
  }
  base::Task<void> Learn(std::vector<inspect::OwnerRef> refs);

  Cluster& cluster_;
  std::string ns_;
  std::string uid_;
  inspect::OwnerIndex owners_;
};

}  // namespace kubectl_quota
