#pragma once

// Sends the events of a RefusalDigest. Recording never waits, so it never delays a review.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <memory>

#include "pkg/admission/refusal_digest.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"

namespace admission {

class RefusalReporter {
 public:
  RefusalReporter(base::Scheduler& scheduler, client::EventRecorder& events,
                  RefusalDigestOptions options = {});

  // `quota_type`: see RefusalDigest::Add().
  void Report(const client::ObjectReference& quota_type, const Refusal& refusal);
  // Sends the due events until cancelled, and then the rest.
  base::Task<void> Run();

 private:
  void Send(RefusalDigest::Events events);

  base::Scheduler& scheduler_;
  client::EventRecorder& events_;
  RefusalDigest digest_;
  std::unique_ptr<base::Alarm> wake_;
};

}  // namespace admission
