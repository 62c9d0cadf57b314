#include "pkg/admission/refusal_reporter.h"

#include <utility>

namespace admission {
namespace {

constexpr std::chrono::hours kNothingGathered{1};

}  // namespace

RefusalReporter::RefusalReporter(base::Scheduler& scheduler, client::EventRecorder& events,
                                 RefusalDigestOptions options)
    : scheduler_(scheduler), events_(events), digest_(options), wake_(scheduler.NewAlarm()) {}

void RefusalReporter::Report(const client::ObjectReference& quota_type, const Refusal& refusal) {
  const bool idle = !digest_.NextDue();
  Send(digest_.Add(quota_type, refusal, scheduler_.Now()));
  if (idle) wake_->Wake();  // Run() waits for a due time, and now there is one
}

base::Task<void> RefusalReporter::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    Send(digest_.TakeDue(scheduler_.Now()));
    const base::TimePoint idle = scheduler_.Now() + kNothingGathered;
    co_await wake_->WaitUntil(digest_.NextDue().value_or(idle));
  }
  Send(digest_.TakeAll());
}

// If the recorder's queue is full, the event is lost; the recorder counts it.
void RefusalReporter::Send(RefusalDigest::Events events) {
  for (client::Event& event : events) events_.Record(std::move(event));
}

}  // namespace admission
