#pragma once

// Sends the events of a RefusalDigest. Recording never waits, so it never delays a review: the
// workloads above owners are read by Run(), one after another.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <deque>
#include <memory>

#include "pkg/admission/refusal_digest.h"
#include "pkg/admission/workload_finder.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"

namespace admission {

class RefusalReporter {
 public:
  RefusalReporter(base::Scheduler& scheduler, client::EventRecorder& events,
                  client::ApiClient& client, RefusalDigestOptions options = {});

  // `quota_type`: see RefusalDigest::Add().
  void Report(const client::ObjectReference& quota_type, const Refusal& refusal);
  // Sends the due events until cancelled, and then the rest.
  base::Task<void> Run();

 private:
  void ReportWorkload(const Refusal& refusal);
  // Reads the workload of the first refusal that waits for it.
  base::Task<void> FindWorkload();
  void Send(RefusalDigest::Events events);

  base::Scheduler& scheduler_;
  client::EventRecorder& events_;
  RefusalDigest digest_;
  WorkloadFinder workloads_;
  std::deque<Refusal> unfound_;  // refusals whose workload is not known, at most one of each owner
  std::unique_ptr<base::Alarm> wake_;
};

}  // namespace admission
