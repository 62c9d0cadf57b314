#include "pkg/client/retry_policy.h"

namespace client {
namespace {

constexpr int kMaxTries = 10;
// A refused connection cannot be told from a lost one here. Callers back off by themselves, and
// those who wait for an absent server should know soon.
constexpr int kMaxWithoutAnswer = 2;
constexpr std::chrono::seconds kPause{1};

}  // namespace

std::optional<base::Duration> RetryPolicy::Next(const base::Error& error) {
  if (tries_ >= kMaxTries) return std::nullopt;
  const bool asked_to_wait = error.http_status == 429 || error.http_status >= 500;
  if (asked_to_wait && error.retry_after.count() > 0) {
    ++tries_;
    return error.retry_after;
  }
  const bool lost = error.http_status == 0 && error.Is(base::ErrorCode::kUnavailable);
  if (!lost || !reads_ || without_answer_ >= kMaxWithoutAnswer) return std::nullopt;
  ++tries_;
  ++without_answer_;
  return kPause;
}

}  // namespace client
