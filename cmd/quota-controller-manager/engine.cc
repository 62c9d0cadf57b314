#include "cmd/quota-controller-manager/engine.h"

#include <glog/logging.h>

namespace manager {
namespace {

// The maximum age of a discovery answer while the quota API is absent.
constexpr std::chrono::seconds kLookWhileAbsent{3};
// How often the known state is checked, without a request.
constexpr std::chrono::milliseconds kPoll{500};
// How often it is checked while an answer is expected in a moment.
constexpr std::chrono::milliseconds kShortPoll{10};
// How long the controller waits for the definitions of usage before it starts.
constexpr std::chrono::seconds kAwaitsDefinitions{5};

}  // namespace

Engine::Engine(quota::QuotaApi api, controllers::ServedResources& served,
               controllers::SharedResources& shared, EngineOptions options)
    : api_(std::move(api)),
      served_(served),
      shared_(shared),
      options_(std::move(options)),
      scheduler_(*options_.context.scheduler),
      metrics_(*options_.context.registry, api_.name),
      queue_metrics_(*options_.context.registry, "quota_" + api_.name) {
  options_.context.name = api_.name;
  if (api_.form.cluster) {
    applied_ =
        std::make_unique<AppliedService>(*options_.context.registry, scheduler_, options_.applied);
  }
  if (options_.admission != nullptr) {
    options_.admission->Prepare(api_.name, options_.controller);
    options_.admission->Enforce(api_);
  }
  if (options_.advised != nullptr) options_.advised->Advise(api_);
  // In steps, because the number of quotas has no bound.
  using Tally = controllers::Accounts::Tally;
  options_.context.registry->OnScrapeInSteps([this, tally = Tally()]() mutable {
    if (controller_ && controller_->accounts().Count(tally)) return true;
    metrics_.ShowReservations(controller_ ? tally : Tally(), scheduler_.Now());
    tally = {};
    return false;
  });
  options_.context.registry->OnScrape([this] {
    if (controller_) metrics_.Refresh(*controller_, scheduler_.Now());
  });
}

void Engine::AddChecks(debug::Health& health) {
  health.AddReadiness("quotas-" + api_.name, [this] {
    auto why = was_ready_ ? std::nullopt : WhyNotReady();
    was_ready_ = !why;
    return why;
  });
}

std::optional<debug::Failure> Engine::WhyNotReady() const {
  std::string why;
  if (controller_) {
    if (controller_->Ready(&why) || IsRefused()) return std::nullopt;
    std::string reason = "quotas, or what they name, are not listed yet";
    const auto& trouble = controller_->trouble();
    if (trouble) reason.append(": ").append(base::ToString(trouble->code));
    return debug::Failure{.reason = std::move(reason), .detail = std::move(why)};
  }
  if (MayStart()) {
    return debug::Failure{.reason = "UsageDefinitions are not listed yet", .detail = ""};
  }
  // A quota API that the server does not serve must not make the daemon unready.
  if (served_.generation() > 0) return std::nullopt;
  return debug::Failure{
      .reason = "it is not known yet whether the server has quotas of " + api_.name, .detail = ""};
}

// True if the server does not let us list quotas that we only count, for example because a role is
// missing. Another quota API's reviews must not fail for that. Its log and metrics report it.
bool Engine::IsRefused() const {
  const bool may_be_absent = !api_.resource.group.empty();
  const auto& trouble = controller_->trouble();
  return may_be_absent && options_.admission == nullptr && trouble && trouble->http_status != 0;
}

// Every API server has the core group, so discovery is not needed for it.
bool Engine::MayStart() const {
  return api_.resource.group.empty() || served_.HasVersion(api_.resource);
}

bool Engine::IsGone() const {
  return !api_.resource.group.empty() && served_.LacksVersion(api_.resource);
}

bool Engine::IsLookDue() const {
  const base::Duration since = scheduler_.Now() - served_.last_look();
  if (controller_ != nullptr) return controller_->NotServed() && since >= kLookWhileAbsent;
  return served_.last_look() == base::TimePoint{} || since >= kLookWhileAbsent;
}

base::Task<void> Engine::Look() {
  if (IsLookDue()) (void)co_await served_.Refresh();  // failures are logged there
}

void Engine::SayAbsent() {
  if (!IsGone() || std::exchange(absent_, true)) return;
  LOG(INFO) << "the server does not serve this quota API, waiting for it quota_api=" << api_.name
            << " resource=" << api_.resource.ToString();
  if (options_.admission != nullptr) options_.admission->HasNone(api_.name);
}

base::Task<void> Engine::Run() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  while (!co_await base::Stopping()) {
    if (!MayStart()) co_await Look();
    if (co_await base::Stopping()) co_return;
    if (MayStart()) {
      co_await AwaitDefinitions();
      co_await RunController();
      continue;
    }
    SayAbsent();
    // Another engine may have asked.
    const base::Duration poll = served_.IsLooking() ? kShortPoll : kPoll;
    co_await alarm->WaitUntil(scheduler_.Now() + poll);
  }
}

void Engine::Define(const api::GroupResource& resource, std::optional<quota::Evaluator> evaluator) {
  const auto change = [&] {
    if (evaluator) {
      api_.evaluators.Put(*std::move(evaluator));
    } else {
      api_.evaluators.Remove(resource);
    }
  };
  if (controller_) {
    controller_->ChangeEvaluator(resource, change);
  } else {
    change();
  }
}

// If the definitions cannot be read, all else is counted, and decided where no quota has a name or
// a scope that they may explain (admission::QuotaAdmitterOptions::definitions_known).
base::Task<void> Engine::AwaitDefinitions() {
  if (!options_.definitions_known) co_return;
  const base::TimePoint latest = scheduler_.Now() + kAwaitsDefinitions;
  while (!options_.definitions_known() && scheduler_.Now() < latest) {
    if (co_await base::Stopping()) co_return;
    co_await scheduler_.Sleep(kShortPoll);
  }
}

// Runs until the server stops serving the quota API, or until cancelled.
base::Task<void> Engine::RunController() {
  StartController();
  base::TaskGroup running(options_.context.executor);
  running.Spawn("controller " + api_.name, [this] { return controller_->Run(); });
  if (applied_) running.Spawn("applied " + api_.name, [this] { return applied_->Run(); });
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  bool stopping = false;
  // While the quotas can be watched, they are served, whatever discovery says.
  while (!stopping && !(IsGone() && controller_->trouble())) {
    co_await alarm->WaitUntil(scheduler_.Now() + kPoll);
    stopping = co_await base::Stopping();
    if (!stopping) co_await Look();
  }
  // Reviews use the controller's book, so admission must release it before the controller stops.
  if (options_.admission != nullptr) co_await options_.admission->Detach(api_.name);
  if (options_.advised != nullptr) co_await options_.advised->Detach(api_.name);
  running.Cancel();
  co_await running.Join();
  // Scrapes and the applied controller refer to the controller, so they must release it first.
  queue_metrics_.Follow(nullptr);
  metrics_.Clear();
  if (applied_) applied_->Detach();
  controller_.reset();
}

void Engine::StartController() {
  absent_ = false;
  if (!options_.not_enforced.empty()) {
    LOG(WARNING) << "quotas are counted but not enforced: " << options_.not_enforced
                 << " quota_api=" << api_.name;
  }
  // It knows nothing of what an earlier controller reserved, so that is another writer's.
  controllers::QuotaControllerOptions options = options_.controller;
  if (starts_++ > 0) options.identity += "-" + std::to_string(starts_);
  controller_ = std::make_unique<controllers::QuotaController>(
      options_.context, api_, served_, shared_, metrics_, options, queue_metrics_);
  if (applied_) {
    applied_->Attach(*controller_, served_, options_.context,
                     {.leading = options_.controller.leading});
  }
  queue_metrics_.Follow([this] { return controller_->running(); });
  // Last, because reviews use the controller from now on.
  if (options_.admission != nullptr) options_.admission->Attach(api_.name, *controller_);
  if (options_.advised != nullptr) options_.advised->Attach(api_.name, *controller_);
}

void Engine::OnLeading() {
  if (controller_) controller_->OnLeading();
}

}  // namespace manager
