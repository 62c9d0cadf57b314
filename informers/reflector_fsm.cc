#include "informers/reflector_fsm.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace informers {
namespace {

static_assert(ReflectorFsm::kShortWatch < ReflectorFsm::kSteadyWatch);

using base::ErrorCode;
using Act = Step::Act;

// So many short watches in a row are reported as trouble. A restarting load balancer causes one.
constexpr int kShortWatchesInTrouble = 3;
// After so many answers in a row that it has not reached our version, the server must have been
// restored to an older state: list again.
constexpr int kAheadOfServerLimit = 3;
// After so many watches in a row that got stuck inside of an event, another one would, too.
constexpr int kStuckLimit = 3;

// True if the server will never accept the request. Other statuses without an error code of their
// own, for example 302, 407 or 451, are the answer of a proxy, and pass.
bool IsAboutRequest(int http_status) {
  constexpr std::array kStatuses{400, 405, 406, 422};
  return std::ranges::find(kStatuses, http_status) != kStatuses.end();
}

// True if the version cannot be used after this error; see the header.
bool LosesPlace(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
      return IsAboutRequest(error.http_status);
    case ErrorCode::kExpired:
    case ErrorCode::kNotFound:
    case ErrorCode::kMalformed:
    case ErrorCode::kTooLarge:
      return true;
    default:
      return false;
  }
}

// True if the connection ended, by either side, without an error about the watch itself.
bool IsBreak(const WatchEnd& end) {
  return end.phase == WatchEnd::Phase::kReading &&
         (!end.error || end.error->Is(ErrorCode::kUnavailable) ||
          end.error->Is(ErrorCode::kTimeout));
}

}  // namespace

ReflectorFsm::ReflectorFsm(base::BackoffOptions backoff, std::uint64_t seed)
    : backoff_(backoff, seed) {}

Step ReflectorFsm::Listed(std::string version) {
  CHECK(!version.empty()) << "a list without a version, from which nothing can be watched";
  version_ = std::move(version);
  progressed_ = false;
  ahead_of_server_ = 0;
  stuck_ = 0;
  return {.act = Act::kWatch};
}

Step ReflectorFsm::ListFailed(base::TimePoint now, const base::Error& error) {
  version_.clear();
  opening_heals_ = true;  // a watch only follows a list that succeeded
  return Retry(now, error);
}

void ReflectorFsm::Applied(std::string version, bool bookmark) {
  if (version.empty()) return;
  stuck_ = 0;
  if (!bookmark && version != version_) progressed_ = true;
  version_ = std::move(version);
}

Step ReflectorFsm::WatchEnded(base::TimePoint now, WatchEnd end) {
  const bool progressed = std::exchange(progressed_, false);
  const bool expired = end.error && end.error->Is(ErrorCode::kExpired);
  const bool opened = end.phase != WatchEnd::Phase::kOpening;
  const bool cut = IsBreak(end) && end.inside_event && !progressed;
  const bool stuck = cut || end.phase == WatchEnd::Phase::kStuck;
  if (stuck && ++stuck_ >= kStuckLimit) version_.clear();
  if (opened && end.lasted >= kSteadyWatch && !cut && (IsBreak(end) || expired)) backoff_.Reset();
  if (IsBreak(end)) {
    ahead_of_server_ = 0;
    if (cut || (!progressed && end.lasted < kShortWatch)) return WatchedInVain(now, end);
    watches_in_vain_ = 0;
    opening_heals_ = true;
    return {.act = Act::kWatch};
  }
  const base::Error error = end.error.value_or(base::Error{.message = "the watch ended"});
  opening_heals_ = end.phase == WatchEnd::Phase::kOpening;
  ahead_of_server_ = error.too_large_resource_version ? ahead_of_server_ + 1 : 0;
  if (LosesPlace(error) || ahead_of_server_ >= kAheadOfServerLimit) version_.clear();
  Step step = Retry(now, error);
  if (error.Is(ErrorCode::kExpired))
    step.trouble.reset();  // the server keeps a short history: a list repairs it
  return step;
}

Step ReflectorFsm::WatchedInVain(base::TimePoint now, const WatchEnd& end) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(end.lasted);
  base::Error error{.code = ErrorCode::kUnavailable,
                    .message = "the watch ended " + std::to_string(milliseconds.count()) +
                               " ms after it was opened, without an event"};
  if (end.error) error.message += ": " + end.error->message;
  Step step = Retry(now, error);
  opening_heals_ = false;
  if (++watches_in_vain_ < kShortWatchesInTrouble) step.trouble.reset();
  return step;
}

Step ReflectorFsm::Retry(base::TimePoint now, const base::Error& error) {
  return {.act = version_.empty() ? Act::kList : Act::kWatch,
          .wait = backoff_.Next(now, error.retry_after),
          .trouble = error};
}

}  // namespace informers
