#pragma once

// Whether a failed request is sent again, and when (client-go v0.36.3, rest/with_retry.go). One
// policy for each request. Decides only; the caller waits, and keeps to its deadline.

#include <optional>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace client {

class RetryPolicy {
 public:
  explicit RetryPolicy(std::string_view verb) : reads_(verb == "GET") {}

  // How long to wait before the next try; nullopt: give the error to the caller.
  //   429 or 5xx with Retry-After: as the server says, whatever the verb: it did nothing.
  //   No answer: reads only, after a second. What a write did is unknown.
  std::optional<base::Duration> Next(const base::Error& error);

 private:
  bool reads_;
  int tries_ = 0;           // beyond the first
  int without_answer_ = 0;  // of these, after a lost connection
};

}  // namespace client
