#include "controllers/quota/events/quota_reporter.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controllers/quota/events/uncounted.h"
#include "pkg/quota/uncountable_names.h"

namespace controllers {
namespace {

using base::ErrorCode;

// How often a server that is away, or a quota with a failure, is checked.
constexpr std::chrono::seconds kLookInterval{1};
constexpr std::chrono::hours kNothingToDo{1};
// Discovery of a resource that a quota has just named takes a moment.
constexpr std::chrono::seconds kDiscoveryPatience{10};
// Quotas that are checked in one turn of the event loop.
constexpr int kLooksATurn = 16;

// True if the server answered with an error about the resource. 401 is about our credentials, not
// about the resource.
bool IsAboutResource(const base::Error& error) {
  if (error.Is(ErrorCode::kUnauthorized)) return false;
  return error.http_status != 0 || error.Is(ErrorCode::kMalformed) ||
         error.Is(ErrorCode::kTooLarge);
}

// The delays that fit to these pauses between two attempts.
ConditionPatience PatienceFor(const base::BackoffOptions& pauses) {
  constexpr std::chrono::seconds kAttempt{3};
  const auto longest = pauses.cap * (1 + pauses.jitter);
  return {.after_outage = std::chrono::ceil<std::chrono::seconds>(longest) + kAttempt};
}

}  // namespace

QuotaReporter::QuotaReporter(const TrackingContext& context, const quota::QuotaApi& api,
                             const QuotaControllerOptions& options, const QuotaStore& store,
                             const Tracker& tracker, std::function<bool()> server_away,
                             std::function<void(const api::ObjectKey& key)> on_told)
    : context_(context),
      api_(api),
      options_(options),
      store_(store),
      tracker_(tracker),
      server_away_(std::move(server_away)),
      on_told_(std::move(on_told)),
      announcer_(context, api, options),
      conditions_(PatienceFor(context.reflector.backoff)),
      due_(*context.scheduler),
      wake_(context.scheduler->NewAlarm()) {
  if (!options.unenforced) return;
  // ClusterQuotas have a condition that says so, and their events repeat it.
  const auto look = [this](const api::ObjectKey& key) {
    api_.form.cluster ? on_told_(key) : LookSoon(key);
  };
  enforcement_ = std::make_unique<EnforcementWatch>(*context.scheduler, options.unenforced, tracker,
                                                    store, look);
}

void QuotaReporter::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  if (after == nullptr) {
    conditions_.Forget(before->uid);
    failures_.erase(before->key);
    return;
  }
  const bool respecified = before == nullptr || before->hard != after->hard ||
                           before->selector != after->selector ||
                           before->unreadable.why != after->unreadable.why;
  const auto force = [](const quota::Quota& quota) {
    return NotInForceOf(quota.further_status.Find("conditions")).reason;
  };
  if (respecified || force(*before) != force(*after)) LookSoon(after->key);
  if (before == nullptr || before->status == after->status) return;
  if (api_.part_of) return;  // the controller of the whole says so
  if (const auto exceeded = BecameExceeded(before->status, *after))
    announcer_.Say(*after, *exceeded);
}

void QuotaReporter::OnResourceState() {
  away_ = away_ || server_away_();
  if (away_) wake_->Wake();
}

void QuotaReporter::OnCount(const api::ObjectKey& key, std::vector<Obstacle> unreadable) {
  if (FailuresOf(key).unreadable == unreadable) return;
  Failures failures = FailuresOf(key);
  failures.unreadable = std::move(unreadable);
  Note(key, std::move(failures));
  LookSoon(key);
}

void QuotaReporter::OnWrite(const api::ObjectKey& key, const std::string& refused) {
  if (FailuresOf(key).unwritable == refused) return;
  Failures failures = FailuresOf(key);
  const bool changes = failures.unwritable.empty() || refused.empty();
  failures.unwritable = refused;
  Note(key, std::move(failures));
  if (changes) LookSoon(key);
}

const QuotaReporter::Failures& QuotaReporter::FailuresOf(const api::ObjectKey& key) const {
  static const Failures none;
  const auto known = failures_.find(key);
  return known == failures_.end() ? none : known->second;
}

void QuotaReporter::Note(const api::ObjectKey& key, Failures failures) {
  if (failures == Failures()) {
    failures_.erase(key);
  } else {
    failures_[key] = std::move(failures);
  }
}

void QuotaReporter::LookSoon(const api::ObjectKey& key) {
  due_.Add(key);
  wake_->Wake();
}

base::Task<void> QuotaReporter::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    const bool away = server_away_();
    const bool back = std::exchange(away_, away) && !away;
    if (back) server_since_ = Now();
    if (!away && LookAtSomeDue()) {
      co_await base::NextTurn();
    } else {
      // While a delay runs, check each second whether the server is away, so that a short outage
      // is not missed.
      const base::TimePoint due = due_.NextReady();
      const bool idle = !away_ && due == base::TimePoint::max();
      const base::TimePoint soon = Now() + kLookInterval;
      const base::TimePoint next = away_ ? soon : std::min(due, soon);
      co_await wake_->WaitUntil(idle ? Now() + kNothingToDo : next);
    }
  }
}

// Returns true if more quotas may be due.
bool QuotaReporter::LookAtSomeDue() {
  for (int looks = 0; looks < kLooksATurn; ++looks) {
    const std::optional<api::ObjectKey> key = due_.Get();
    if (!key) return false;
    due_.Done(*key);
    LookAt(*key);
  }
  return true;
}

void QuotaReporter::LookAt(const api::ObjectKey& key) {
  const quota::Quota* quota = store_.Find(key);
  if (quota == nullptr || quota->deleting) return;
  const base::TimePoint now = Now();
  bool told = false;
  const auto say = [&](const Announcement& announcement) {
    const bool said = announcer_.Say(*quota, announcement);
    told = told || said;
    return said;
  };
  Flaws flaws{.exempt = options_.exempt->contains(key.ns),
              .unwritable = FailuresOf(key).unwritable,
              .not_in_force = NotInForceOf(quota->further_status.Find("conditions"))};
  if (enforcement_ && !api_.form.cluster) {
    const std::string why = enforcement_->WhyNot(*quota).value_or("");
    flaws.not_in_force = why.empty() ? NotInForce() : NotInForce{std::string(kNotEnforced), why};
  }
  std::vector<Obstacle> obstacles;
  // What is counted of a part, the controller of the whole counts, too, and says so.
  if (!api_.part_of) {
    flaws.uncountable = quota::UncountableNames(api_, quota->hard);
    flaws.matches_nothing = WhyNothingMatches(api_, quota->selector);
    flaws.unreadable = quota->unreadable.why;
    obstacles = ObstaclesOf(*quota);
  }
  const auto again = conditions_.Look(*quota, obstacles, flaws, now, server_since_, say);
  if (told) on_told_(key);
  if (again) due_.AddAfter(key, *again - now);
}

std::vector<Obstacle> QuotaReporter::ObstaclesOf(const quota::Quota& quota) const {
  std::vector<Obstacle> obstacles;
  std::set<std::string> known;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    const bool counted = source.tracked != nullptr && source.tracked->synced() && !source.trouble;
    if (counted || !known.insert(source.resource.ToString()).second) continue;
    Obstacle obstacle = Judge(source);
    obstacle.resource = source.resource.ToString();
    obstacle.names = source.names;
    obstacle.held_out = HeldOut(source, quota.status.used);
    obstacles.push_back(std::move(obstacle));
  }
  for (const Obstacle& obstacle : FailuresOf(quota.key).unreadable) {
    if (known.insert(obstacle.resource).second) obstacles.push_back(obstacle);
  }
  return obstacles;
}

// Returns why this source is not counted.
Obstacle QuotaReporter::Judge(const UsageSource& source) const {
  using Kind = Obstacle::Kind;
  if (source.trouble && source.trouble->Is(ErrorCode::kForbidden)) {
    return {.kind = Kind::kForbidden,
            .why = source.trouble->message + ": " + HowToAllow(source.resource)};
  }
  if (source.trouble) {
    return {.kind = IsAboutResource(*source.trouble) ? Kind::kRefused : Kind::kSilent,
            .why = source.trouble->message};
  }
  if (source.tracked != nullptr) return {};
  if (source.known_absent) return {.kind = Kind::kNotServed};
  if (Now() - source.wanted_since < kDiscoveryPatience) return {};
  return {.kind = Kind::kSilent, .why = "discovery does not answer for its API group"};
}

}  // namespace controllers
