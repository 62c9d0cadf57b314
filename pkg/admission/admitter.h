#pragma once

// Who decides reviews for one quota API. The HTTP side (handler.h) knows nothing of quotas; it
// parses, asks, and answers within the deadline it was given.
//
// Single-threaded.

#include <string>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"

namespace admission {

class Admitter {
 public:
  virtual ~Admitter() = default;
  // The quota API's name: "core".
  [[nodiscard]] virtual const std::string& name() const = 0;
  // For ParseReview(). Empty for a resource that this quota API never counts, or only counts.
  [[nodiscard]] virtual std::vector<std::string> FieldsOf(const api::GroupResource& resource) = 0;
  // Decides, and reserves what it admits, before `deadline`; later it answers kUnavailable.
  virtual base::Task<Answer> Admit(Review review, base::TimePoint deadline) = 0;
};

}  // namespace admission
