#include "controllers/applied/applied_controller.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/metrics/informer_metrics.h"

namespace controllers {
namespace {

constexpr std::chrono::milliseconds kAppliedPoll{250};

std::string_view ResultOf(AppliedWrite::Verb verb) {
  switch (verb) {
    case AppliedWrite::Verb::kCreate:
      return "created";
    case AppliedWrite::Verb::kUpdate:
      return "updated";
    case AppliedWrite::Verb::kDelete:
      return "deleted";
  }
  return "";
}

}  // namespace

AppliedController::AppliedController(TrackingContext context, const AppliedSource& source,
                                     ServedResources& served, AppliedObserver& observer,
                                     AppliedOptions options)
    : context_(std::move(context)),
      served_(served),
      observer_(observer),
      options_(std::move(options)),
      plan_(*context_.scheduler, source),
      metrics_(NewInformerMetrics(context_, context_.name + "-applied", AppliedResource())),
      alarm_(context_.scheduler->NewAlarm()) {}

std::unique_ptr<informers::Reflector> AppliedController::NewWatch() {
  return NewReflector(context_, AppliedResource(),
                      {"metadata.labels", "metadata.ownerReferences", "status"}, metrics_.get(),
                      *this);
}

// Ignores changes that AppliedClusterQuotas do not show. Reservations change many times a second.
void AppliedController::OnClusterQuota(const quota::Quota* before, const quota::Quota* after) {
  const bool both = before != nullptr && after != nullptr;
  if (both && SaysTheSame(*before, *after)) return;
  const auto what = both && DiffersInUsageOnly(*before, *after) ? AppliedPlan::Changed::kUsage
                                                                : AppliedPlan::Changed::kMore;
  for (const quota::Quota* quota : {before, after}) {
    if (quota == nullptr) continue;
    plan_.OnClusterQuota(quota->key.name, what);
    // Its parent shows how much of the guarantee is still free.
    const bool guaranteed = quota->cluster && !quota->cluster->guaranteed.empty();
    if (guaranteed && !quota->cluster->parent.empty()) {
      plan_.OnClusterQuota(quota->cluster->parent, what);
    }
  }
}

void AppliedController::Upsert(const json::Value& object) {
  if (!plan_.OnStored(object)) return;
  SayTaken(object.StringAt({"metadata", "namespace"}), object.StringAt({"metadata", "name"}));
}

void AppliedController::SayTaken(std::string_view ns, std::string_view name) {
  const auto more = lines_.Take(ns, context_.scheduler->Now());
  if (!more) return;
  LOG(WARNING) << "an AppliedClusterQuota of this name belongs to somebody else and is ignored "
                  "object="
               << ns << "/" << name << *more;
}

void AppliedController::EndList() {
  plan_.EndList();
  LOG_IF(INFO, !std::exchange(listed_, true)) << "AppliedClusterQuotas listed";
}

// A CRD that is older than the daemon may lack the kind, so this waits until it is served. The
// quota controller maintains `served_` by discovery.
base::Task<void> AppliedController::Run() {
  co_await base::DeferCancellation();
  bool absent = false;
  while (!co_await base::Stopping()) {
    if (!served_.HasVersion(AppliedResource())) {
      LOG_IF(INFO, served_.LacksVersion(AppliedResource()) && !std::exchange(absent, true))
          << "the server does not serve AppliedClusterQuotas, waiting for their CRD";
      co_await alarm_->WaitUntil(context_.scheduler->Now() + kAppliedPoll);
      continue;
    }
    absent = false;
    base::TaskGroup watch(context_.executor);
    const std::unique_ptr<informers::Reflector> stored = NewWatch();
    watch.Spawn("applied", [&stored] { return stored->Run(); });
    co_await Write();
    watch.Cancel();
    co_await watch.Join();
  }
}

base::Task<void> AppliedController::Write() {
  while (!co_await base::Stopping() && !served_.LacksVersion(AppliedResource())) {
    // Nothing wakes this coroutine after a change of the plan, so it polls.
    const base::TimePoint poll = context_.scheduler->Now() + kAppliedPoll;
    if (options_.leading && !options_.leading()) {
      plan_.OnFollowing();
      co_await alarm_->WaitUntil(poll);
      continue;
    }
    AppliedPlan::Next next = plan_.Decide();
    if (next.write) {
      co_await Perform(std::move(*next.write));
    } else if (next.again > context_.scheduler->Now()) {
      co_await alarm_->WaitUntil(std::min(next.again, poll));
    } else {
      co_await base::NextTurn();  // the plan has more work; let other coroutines run first
    }
  }
}

client::ApiRequest AppliedController::RequestOf(const AppliedWrite& write) const {
  client::ApiRequest request{
      .query = {{"fieldManager", "quota-controller-manager"}},
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.write_timeout)};
  const bool creates = write.verb == AppliedWrite::Verb::kCreate;
  request.path = AppliedResource().Path(write.ns, creates ? "" : write.name);
  request.content_type = client::kJson;
  switch (write.verb) {
    case AppliedWrite::Verb::kCreate:
      request.verb = "POST";
      request.body = json::Write(write.object);
      break;
    case AppliedWrite::Verb::kUpdate:
      request.verb = "PATCH";
      request.content_type = client::kJsonPatch;
      request.body = json::Write(AppliedPatch(write.object, write.version));
      break;
    case AppliedWrite::Verb::kDelete: {
      request.verb = "DELETE";
      request.query.clear();
      const json::Object guard{{"resourceVersion", write.version}};
      request.body = json::Write(
          json::Object{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", guard}});
      break;
    }
  }
  return request;
}

base::Task<void> AppliedController::Perform(AppliedWrite write) {
  client::ApiRequest request = RequestOf(write);
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) {
    Fail(write, answer.error());
    co_return;
  }
  observer_.OnAppliedWrite(ResultOf(write.verb));
  plan_.OnWritten(write, answer->StringAt({"metadata", "resourceVersion"}));
}

void AppliedController::Fail(const AppliedWrite& write, const base::Error& error) {
  const AppliedPlan::Failure failure = plan_.OnFailed(write, error);
  if (error.Is(base::ErrorCode::kCancelled)) return;
  const bool failed = failure == AppliedPlan::Failure::kFailed;
  observer_.OnAppliedWrite(failed ? "failed" : "postponed");
  if (failure == AppliedPlan::Failure::kTaken) SayTaken(write.ns, write.name);
  if (!failed) return;
  const auto more = lines_.Take(write.ns, context_.scheduler->Now());
  if (!more) return;
  LOG(WARNING)
      << "an AppliedClusterQuota cannot be written; its namespace shows the last one, or none "
         "object="
      << write.ns << "/" << write.name << *more << " error=" << json::Quote(error.message);
}

}  // namespace controllers
