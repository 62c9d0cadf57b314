#pragma once

// Learns of changes of ClusterQuotas and of the namespaces that they reach. Implemented outside of
// the quota controller, by the controller that shows this to users. It must not call back.

#include <string>

#include "pkg/quota/quota.h"

namespace controllers {

class ClusterListener {
 public:
  virtual ~ClusterListener() = default;
  // The quota was added (`before` is null), changed, or removed (`after` is null).
  virtual void OnClusterQuota(const quota::Quota* before, const quota::Quota* after) = 0;
  // The set of quotas that reach the namespace has changed.
  virtual void OnReachOf(const std::string& ns) = 0;
  // The namespace's usage under some quota may have changed.
  virtual void OnUsageIn(const std::string& ns) = 0;
};

}  // namespace controllers
