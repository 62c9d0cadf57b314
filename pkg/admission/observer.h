#pragma once

// What operators want to know of admission. Implemented where the metrics are; the handler and the
// admitters call it, on their own thread, and it must not call back.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"

namespace admission {

// A request that a quota refused, or would have, and that was no dry run.
struct Refusal {
  api::ObjectKey quota;
  std::string ns;  // of the object
  std::string quota_uid;
  std::vector<std::string> exceeded;  // limits; empty if it was refused for another reason
  std::optional<Owner> owner;         // of the object that was not stored
  std::string message;                // as the user is told
  // How the quota is enforced. Unless kDeny, it is only tried: the request was admitted.
  quota::ClusterSpec::Enforcement mode = quota::ClusterSpec::Enforcement::kDeny;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // A review was answered, or its request refused. `result` is "allowed", "refused", "busy",
  // "unavailable" or "malformed"; `took` runs from the whole request's arrival to the decision.
  virtual void OnDecision(std::string_view quota_api, std::string_view result,
                          base::Duration took) = 0;
  // Called after OnDecision() if a quota refused the request.
  virtual void OnRefusal(std::string_view /*quota_api*/, const Refusal& /*refusal*/) {}
  // Called after OnDecision() for each quota that is only tried, and would have refused the
  // request.
  virtual void OnWouldRefuse(std::string_view /*quota_api*/, const Refusal& /*refusal*/) {}
  // An admitted request carries a warning.
  virtual void OnWarning(std::string_view quota_api) = 0;
  // One turn of a namespace's writer: how many requests it decided, with how many status writes.
  virtual void OnBatch(std::string_view quota_api, std::size_t requests, std::size_t writes) = 0;
  // A status write met a newer version of its quota.
  virtual void OnConflict(std::string_view quota_api) = 0;
  // Reservations whose object was never stored: their quotas are recounted.
  virtual void OnReservationsExpired(std::string_view quota_api, std::size_t reservations) = 0;
};

// For tests, and programs without metrics.
Observer& NoObserver();

}  // namespace admission
