#include "pkg/admission/refusal_reporter.h"

#include <algorithm>
#include <utility>

namespace admission {
namespace {

constexpr std::chrono::hours kNothingGathered{1};
constexpr std::size_t kMostUnfound = 64;
// After each read: owners come from requests, and may be invented.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

RefusalReporter::RefusalReporter(base::Scheduler& scheduler, client::EventRecorder& events,
                                 client::ApiClient& client, RefusalDigestOptions options)
    : scheduler_(scheduler),
      events_(events),
      digest_(options),
      workloads_(client, scheduler),
      wake_(scheduler.NewAlarm()) {}

void RefusalReporter::Report(const client::ObjectReference& quota_type, const Refusal& refusal) {
  const bool idle = !digest_.NextDue();
  Send(digest_.Add(quota_type, refusal, scheduler_.Now()));
  if (idle) wake_->Wake();  // Run() waits for a due time, and now there is one
  ReportWorkload(refusal);
}

// While the workload is read, further refusals are only counted on the owner.
void RefusalReporter::ReportWorkload(const Refusal& refusal) {
  if (!refusal.owner || !WorkloadFinder::MayHaveWorkload(*refusal.owner)) return;
  if (!RefusalDigest::CanHaveEvents(*refusal.owner)) return;
  if (const WorkloadFinder::Answer* known = workloads_.Known(refusal.ns, *refusal.owner)) {
    if (known->workload) {
      Send(digest_.AddWorkload(*known->workload, refusal, scheduler_.Now()));
    }
    return;
  }
  const bool waits = std::ranges::any_of(
      unfound_, [&](const Refusal& other) { return other.owner->uid == refusal.owner->uid; });
  if (waits || unfound_.size() >= kMostUnfound) return;
  unfound_.push_back(refusal);
  unfound_.back().exceeded.clear();
  unfound_.back().message.resize(std::min(refusal.message.size(), RefusalDigest::kMostText));
  wake_->Wake();
}

base::Task<void> RefusalReporter::FindWorkload() {
  std::string ns = unfound_.front().ns;
  Owner owner = *unfound_.front().owner;
  const std::optional<Owner> workload = co_await workloads_.Ask(std::move(ns), std::move(owner));
  if (workload) Send(digest_.AddWorkload(*workload, unfound_.front(), scheduler_.Now()));
  unfound_.pop_front();
}

base::Task<void> RefusalReporter::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    Send(digest_.TakeDue(scheduler_.Now()));
    if (!unfound_.empty()) {
      co_await FindWorkload();
      co_await scheduler_.Sleep(kPause);
      continue;
    }
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
