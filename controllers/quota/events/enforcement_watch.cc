#include "controllers/quota/events/enforcement_watch.h"

#include <utility>

#include "controllers/quota/events/status_conditions.h"
#include "pkg/base/text.h"

namespace controllers {
namespace {

constexpr std::chrono::milliseconds kPoll{500};
// As the recorder of events, because each of these quotas gets an event, too.
constexpr base::BucketOptions kTold{.per_second = 20, .burst = 100};

}  // namespace

EnforcementWatch::EnforcementWatch(base::Scheduler& scheduler,
                                   std::function<std::optional<Unenforced>()> ask,
                                   const Tracker& tracker, const QuotaStore& store,
                                   std::function<void(const api::ObjectKey& key)> look)
    : scheduler_(scheduler),
      ask_(std::move(ask)),
      tracker_(tracker),
      store_(store),
      look_(std::move(look)),
      bucket_(kTold) {}

std::optional<std::string> EnforcementWatch::WhyNot(const quota::Quota& quota) const {
  if (!state_) return std::nullopt;
  // A quota without the condition gets a write anyway, or is of an API without conditions.
  const bool waits = telling_ && told_ < quota.key &&
                     FindCondition(quota.further_status.Find("conditions"), "Ready") != nullptr;
  if (waits) return std::nullopt;
  if (!state_->why.empty()) return "nothing is refused: " + state_->why;
  if (state_->resources.empty()) return "";
  std::set<std::string> resources;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    const api::GroupResource& resource = source.evaluator->resource;
    if (state_->resources.contains(resource)) resources.insert(resource.ToString());
  }
  if (resources.empty()) return "";
  return "the API server does not ask about " + base::Join(resources, ", ") +
         ": its webhook configuration lacks the rules";
}

void EnforcementWatch::Restart() {
  telling_ = true;
  told_ = {};
}

void EnforcementWatch::Learn(const Unenforced& now_is) {
  const base::TimePoint now = scheduler_.Now();
  const auto lasts = [&](base::TimePoint since) { return now - since >= kLasts; };
  if (now_is.why.empty()) why_since_.reset();
  if (!now_is.why.empty() && !why_since_) why_since_ = now;
  std::erase_if(since_, [&](const auto& entry) { return !now_is.resources.contains(entry.first); });
  for (const api::GroupResource& resource : now_is.resources) since_.try_emplace(resource, now);

  State next;
  const bool was_so = state_ && !state_->why.empty();  // for another reason
  if (why_since_ && (now_is.decided || was_so || lasts(*why_since_))) next.why = now_is.why;
  for (const auto& [resource, since] : since_) {
    if (lasts(since)) next.resources.insert(resource);
  }
  // A new process does not take back what the last one reported before it knows better.
  const bool unsure = next == State() && (why_since_ || !since_.empty());
  if (state_ == next || (!state_ && unsure)) return;
  state_ = std::move(next);
  Restart();
}

base::Task<void> EnforcementWatch::Run() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  while (!co_await base::Stopping()) {
    if (const auto now_is = store_.synced() ? ask_() : std::nullopt) Learn(*now_is);
    while (telling_ && bucket_.Take(scheduler_.Now())) {
      telling_ =
          store_.VisitSome(told_, 1, [this](const quota::Quota& quota) { look_(quota.key); });
    }
    co_await alarm->WaitUntil(scheduler_.Now() + kPoll);
  }
}

}  // namespace controllers
