#include "pkg/webhook/open_state.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/base/duration.h"
#include "pkg/webhook/ownership.h"

namespace webhook {

void OpenState::Update(base::TimePoint now, const json::Value* live) {
  if (live != nullptr) {
    ReadGlass(now, *live);
    const std::string_view counting = AnnotationOf(*live, kCountingAnnotation);
    counting_ = counting == leader_ ? counting : "";
  }
  if (until_) broken_ = now < *until_;
}

// A duration is measured by our own clock: those of others may differ.
void OpenState::ReadGlass(base::TimePoint now, const json::Value& live) {
  const bool asked = AnnotationOf(live, kBreakGlassAnnotation) == "true";
  const std::string_view lasts = AnnotationOf(live, kBreakGlassForAnnotation);
  if (asked == asked_ && lasts == lasts_) return;
  asked_ = asked;
  broken_ = asked;
  lasts_ = lasts;
  until_.reset();
  const auto duration = base::ParseDuration(lasts.substr(0, lasts.find(' ')));
  if (!asked || !duration || duration->count() <= 0) return;
  until_ = now + std::min<base::Duration>(*duration, base::TimePoint::max() - now);
}

std::string OpenState::Why() const {
  CHECK(IsOpen()) << "requests are refused as usual";
  if (!counting_.empty()) {
    return "all requests pass because the leader " + counting_ + " enforces nothing";
  }
  return "all requests pass because of the annotation " + std::string(kBreakGlassAnnotation);
}

}  // namespace webhook
