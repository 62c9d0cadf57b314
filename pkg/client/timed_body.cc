#include "pkg/client/timed_body.h"

#include <algorithm>

namespace client {

base::Task<base::Result<std::optional<std::string>>> TimedBody::Read(
    std::chrono::milliseconds timeout) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock_.Now());
  if (left <= std::chrono::milliseconds::zero()) {
    co_return base::Error{
        .code = base::ErrorCode::kTimeout,
        .message = "the answer is not complete when the time of the request ends"};
  }
  co_return co_await body_->Read(std::min(left, timeout));
}

}  // namespace client
