#pragma once

// Decides whether and when a failed request is sent again (client-go v0.36.3, rest/with_retry.go).
// One policy object for each request. The caller waits, and keeps its deadline.

#include <optional>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace client {

class RetryPolicy {
 public:
  explicit RetryPolicy(std::string_view verb) : reads_(verb == "GET") {}

  // How long to wait before the next try; nullopt: return the error to the caller.
  //   429 or 5xx with Retry-After: as the server says, for every verb, because it did nothing.
  //   No answer: only for reads, after a second. Whether a write was done is unknown.
  std::optional<base::Duration> Next(const base::Error& error);

 private:
  bool reads_;
  int tries_ = 0;           // after the first
  int without_answer_ = 0;  // of these, tries after a lost connection
};

}  // namespace client
