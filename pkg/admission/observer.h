#pragma once

// Receives what the metrics and events of admission need. The handler and the admitters call it on
// their own thread; it must not call back.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"
#include "pkg/quota/quota.h"

namespace admission {

// A request that a quota refused, or would refuse if it were enforced. Never a dry run.
struct Refusal {
  api::ObjectKey quota;
  std::string ns;  // of the object
  std::string quota_uid;
  std::vector<std::string> exceeded;  // limits; empty if there is another reason
  std::optional<Owner> owner;         // of the object that was not stored
  std::string message;                // the text for the user
  // How the quota is enforced. In any mode but kDeny the request was admitted.
  quota::ClusterSpec::Enforcement mode = quota::ClusterSpec::Enforcement::kDeny;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // A review was answered, or its request refused. `result` is "allowed", "refused", "busy",
  // "unavailable" or "malformed"; `took` runs from the whole request's arrival to the decision.
  virtual void OnDecision(std::string_view /*quota_api*/, std::string_view /*result*/,
                          base::Duration /*took*/) {}
  // Called after OnDecision() if a quota refused the request.
  virtual void OnRefusal(std::string_view /*quota_api*/, const Refusal& /*refusal*/) {}
  // Called after OnDecision() for each quota in mode Warn or Audit that would have refused the
  // request.
  virtual void OnWouldRefuse(std::string_view /*quota_api*/, const Refusal& /*refusal*/) {}
  // An admitted request carries a warning.
  virtual void OnWarning(std::string_view /*quota_api*/) {}
  // One batch of a writer: the number of requests that it decided, and of its status writes.
  virtual void OnBatch(std::string_view /*quota_api*/, std::size_t /*requests*/,
                       std::size_t /*writes*/) {}
  // A status write got a conflict.
  virtual void OnConflict(std::string_view /*quota_api*/) {}
  // Reservations ended whose objects were never stored. Their quotas are recounted.
  virtual void OnReservationsExpired(std::string_view /*quota_api*/, std::size_t /*reservations*/) {
  }
};

// For tests, and programs without metrics.
inline Observer& NoObserver() {
  static Observer silent;
  return silent;
}

}  // namespace admission
