#include "informers/trouble.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/base/duration.h"
#include "pkg/json/value.h"
#include "pkg/metrics/informer_metrics.h"

namespace informers {
namespace {

using base::Error;
using base::ErrorCode;

// False: the server did not answer, or it may have answered before it looked at our rights.
bool TellsOfRights(const Error& error) {
  switch (error.http_status) {
    case 0:
      return error.Is(ErrorCode::kForbidden) || error.Is(ErrorCode::kMalformed) ||
             error.Is(ErrorCode::kTooLarge);
    case 401:
    case 429:
    case 502:
    case 503:
    case 504:
      return false;
    default:
      return true;
  }
}

}  // namespace

void Trouble::OnFailure(const Error& error) {
  const bool same = state_.trouble && state_.trouble->code == error.code;
  const bool said = !said_.Meet(base::ToString(error.code), clock_.Now());
  if (!state_.trouble) failing_since_ = clock_.Now();
  ++state_.failures;
  ++failures_in_a_row_;
  state_.trouble = error;
  if (TellsOfRights(error)) state_.forbidden = error.Is(ErrorCode::kForbidden);
  if (metrics_ != nullptr) metrics_->Failed();
  if (metrics_ != nullptr) metrics_->SetFailing(true);
  if (said) {
    VLOG(1) << "still failing resource=" << resource_ << " error=" << json::Quote(error.message);
  } else {
    LOG(WARNING) << "cannot follow resource=" << resource_
                 << " keeps=" << (state_.synced ? "last-state" : "nothing")
                 << " error=" << json::Quote(error.message);
  }
  if (!same) sink_.OnState();
}

void Trouble::OnProgress() {
  if (!state_.trouble) return;
  CHECK_GT(failures_in_a_row_, 0U) << resource_ << " is in trouble without a failure";
  state_.trouble.reset();
  state_.forbidden = false;
  if (metrics_ != nullptr) metrics_->SetFailing(false);
  const auto lasted =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - failing_since_);
  const auto failures = std::exchange(failures_in_a_row_, 0);
  LOG_IF(INFO, said_.Solve()) << "following again resource=" << resource_
                              << " after=" << base::FormatDuration(lasted)
                              << " failures=" << failures;
  sink_.OnState();
}

}  // namespace informers
