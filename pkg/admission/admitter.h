#pragma once

// Decides reviews for the enforced quota APIs. The HTTP side (pkg/webhook/handler.h) knows nothing
// of quotas: it parses a review, calls the Admitter, and sends the answer.
//
// Single-threaded.

#include <string>
#include <vector>

#include "pkg/admission/answers.h"
#include "pkg/admission/review.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"

namespace admission {

class Admitter {
 public:
  virtual ~Admitter() = default;
  // The names of the enforced quota APIs: "core". A webhook is for one of them, or for several.
  [[nodiscard]] virtual std::vector<std::string> quota_apis() const = 0;
  // The wanted fields for ReviewParser. Empty if no quota API counts the resource, or if it counts
  // only the number of objects.
  [[nodiscard]] virtual std::vector<std::string> FieldsOf(const api::GroupResource& resource) = 0;
  // Decides before `deadline`, and reserves what it admits. After the deadline it answers
  // kUnavailable.
  virtual base::Task<Answer> Admit(Review review, base::TimePoint deadline) = 0;
};

}  // namespace admission
