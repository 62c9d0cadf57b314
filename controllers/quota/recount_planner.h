#pragma once

// Decides what a recount of one quota writes: observed usage, open reservations and external
// charges, and the list without entries that are over. No I/O, one thread.

#include <string>
#include <vector>

#include "controllers/quota/cluster/cluster_status.h"
#include "controllers/quota/controller_parts.h"

namespace controllers {

// The result of a recount, which may be written.
struct Recount {
  Draft draft;           // without the quota
  bool differs = false;  // a stored value or the recorded `used` differs
  bool over = false;     // some entries have ended and can be removed
  // Deferrable fields wait until then.
  base::TimePoint waits_until = base::TimePoint::max();
};

class RecountPlanner {
 public:
  // All references must outlive it. `cluster` is null if the status has only hard and used.
  RecountPlanner(const ControllerParts& parts, const ClusterStatus* cluster)
      : parts_(parts), cluster_(cluster) {}

  // `account`, `count` and `view` are those of the quota. `takes_back`: also take back grants of
  // this process that no request needs. `may_write`: a write that hard or used need may be made
  // now; otherwise the other fields of the status, which it would have, are not computed.
  Recount Plan(const quota::Quota& quota, Account& account, const QuotaCount& count,
               const QuotaView& view, bool takes_back, bool may_write) const;

 private:
  // Names that do not enter status.hard yet.
  struct Pending {
    std::vector<std::string> not_served;  // nothing can be counted under them
    std::vector<std::string> unguarded;   // by admission, in some namespace of the quota
  };
  [[nodiscard]] Pending PendingNames(const quota::Quota& quota) const;
  [[nodiscard]] static quota::Quota InForce(const quota::Quota& quota, const Pending& pending);
  void HoldOut(const quota::Quota& quota, quota::QuotaStatus& desired) const;
  void AddFurther(const quota::Quota& quota, Account& account, const QuotaCount& count,
                  const std::vector<std::string>& unguarded, Recount& recount) const;

  const ControllerParts& parts_;
  const ClusterStatus* cluster_;
};

}  // namespace controllers
