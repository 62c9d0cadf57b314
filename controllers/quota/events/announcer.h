#pragma once

// Sends what QuotaConditions announces of a quota: an event about it, and a log line.
//
// A replica that does not lead sends only what any replica may send. Single-threaded.

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/events/quota_conditions.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/base/log_limit.h"
#include "pkg/quota/quota.h"

namespace controllers {

class Announcer {
 public:
  // All references must outlive the announcer. Without a recorder of events in the context there
  // are only log lines.
  Announcer(const TrackingContext& context, const quota::QuotaApi& api,
            const QuotaControllerOptions& options);

  // Returns false if it was not said, because the recorder has no room, or another replica says it.
  bool Say(const quota::Quota& quota, const Announcement& announcement);

 private:
  void Log(const quota::Quota& quota, const Announcement& announcement);

  const TrackingContext& context_;
  const quota::QuotaApi& api_;
  const QuotaControllerOptions& options_;
  base::LogLimit lines_;
};

}  // namespace controllers
