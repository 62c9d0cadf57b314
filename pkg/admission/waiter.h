#pragma once

// Internal to the quota admitter: reviews that wait for their decision.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/ask.h"
#include "pkg/admission/quota_admitter.h"

namespace admission {

// A reservation of one quota for a request, or an earlier one that the request relies on.
struct Granted {
  api::ObjectKey quota;
  quota::Uid uid;  // of the object
  std::uint64_t number = 0;
};

// A review in progress.
struct QuotaAdmitter::Pending {
  Review review;
  base::TimePoint deadline{};
  std::unique_ptr<base::Alarm> alarm;  // woken when one of its waiters has an answer
};

// A review that waits for the quotas of one quota API.
struct QuotaAdmitter::Waiter {
  std::shared_ptr<const Pending> pending;
  std::unique_ptr<Ask> ask;
  std::string writer;   // the key of its writer in waiting_at_
  BatchPlan plan = {};  // of this request alone, when it began
  std::optional<Answer> answer;
  bool abandoned = false;  // nobody waits for the answer any more
  std::string trouble;     // why the last write failed, for a waiter that gives up
  // The grants for the object that the request relies on: its own, or earlier ones.
  std::vector<Granted> granted;
};

}  // namespace admission
