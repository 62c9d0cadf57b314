#include "controllers/usage/tracker.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/quota/uncountable_names.h"

namespace controllers {
namespace {

constexpr std::chrono::seconds kRediscoverWanted{1};  // while a named resource is missing
constexpr std::chrono::seconds kRediscoverIdle{30};
constexpr std::chrono::milliseconds kLeastWait{10};
static_assert(kLeastWait < kRediscoverWanted && kRediscoverWanted < kRediscoverIdle);

}  // namespace

Tracker::Tracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
                 SharedResources& shared, UsageListener& listener, bool by_namespace)
    : clock_(*context.scheduler),
      api_(api),
      served_(served),
      shared_(shared),
      listener_(listener),
      changed_(context.scheduler->NewAlarm()),
      limits_(api_, by_namespace),
      classes_(context, api_, served_, shared_, listener_),
      resources_(std::move(context), api_, served_, shared_, listener_, limits_, classes_,
                 *changed_) {}

void Tracker::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  if (before != nullptr && after != nullptr && before->hard == after->hard) return;
  WantedResources& wanted = resources_.wanted();
  const std::vector<std::shared_ptr<TrackedResource>> watched = Watched();
  std::vector<std::string> names;
  // The new names come first, so that a resource of both is not dropped in between.
  if (after != nullptr) names = limits_.Add(*after);
  for (const std::string& name : names) {
    for (const SharedEvaluator& evaluator : limits_.EvaluatorsOf(name)) wanted.Add(evaluator);
    if (classes_.OnName(name, true)) changed_->Wake();
    for (const auto& tracked : watched) tracked->facts().Limit(name);
  }
  names.clear();
  if (before != nullptr) names = limits_.Remove(*before);
  for (const std::string& name : names) {
    for (const auto& evaluator : limits_.EvaluatorsOf(name)) wanted.Remove(evaluator->resource);
    if (classes_.OnName(name, false)) changed_->Wake();
    for (const auto& tracked : watched) tracked->facts().Unlimit(name);
  }
  WantByClasses();
}

std::vector<const quota::Quota*> Tracker::OnEvaluator(
    const SharedEvaluator& before, const SharedEvaluator& after,
    const std::vector<const quota::Quota*>& quotas) {
  const api::GroupResource resource = (after ? after : before)->resource;
  CHECK(!before || !after || before->revision != after->revision)
      << "a watch of " << resource.ToString() << " would be taken for one of its new evaluator";
  WantedResources& wanted = resources_.wanted();
  // Without an evaluator of its own, the objects of a kind are only counted.
  SharedEvaluator counter;
  if (auto objects = api_.object_counter ? api_.object_counter(resource) : std::nullopt) {
    counter = std::make_shared<const quota::Evaluator>(*std::move(objects));
  }
  const SharedEvaluator old = before ? before : counter;
  const SharedEvaluator now = after ? after : counter;
  for (std::size_t names = limits_.NamesOf(now.get()); names > 0; --names) wanted.Add(now);
  for (std::size_t names = limits_.NamesOf(old.get()); names > 0; --names) wanted.Remove(resource);
  auto limiting = limits_.OnEvaluator(resource, old.get(), now.get(), quotas);
  if (now != nullptr) wanted.Replace(now);
  classes_.OnEvaluator(before, after, limits_.names());
  WantByClasses();
  if (!after || !after->classes) wanted.RemoveByClasses(resource);
  changed_->Wake();
  return limiting;
}

// An evaluator is also wanted while it owns a name of a quota because of its classes, or may own
// one: admission must see its objects to refuse them.
void Tracker::WantByClasses() {
  WantedResources& wanted = resources_.wanted();
  for (const SharedEvaluator& evaluator : api_.evaluators.shared()) {
    if (!evaluator->classes) continue;
    if (classes_.GiveNames(*evaluator)) {
      wanted.AddByClasses(evaluator);
    } else {
      wanted.RemoveByClasses(evaluator->resource);
    }
  }
}

void Tracker::OnClasses() {
  WantByClasses();
  for (const auto& tracked : Watched()) tracked->facts().OnClasses();
}

std::vector<UsageSource> Tracker::SourcesOf(const quota::ResourceList& hard) const {
  std::vector<UsageSource> sources;
  WantedResources::Concerned concerned = resources_.wanted().ConcernedBy(hard);
  for (auto& [entry, names] : concerned.owners) {
    const auto& [resource, wanted] = *entry;
    const quota::Evaluator& evaluator = *wanted.evaluator;
    const quota::ClassTable* const owning = classes_.OwningTable(evaluator);
    std::erase_if(names, [&evaluator, owning](const std::string& name) {
      return !quota::OwnsName(evaluator, name, owning);
    });
    if (names.empty()) continue;
    const TrackedResource* const tracked = wanted.current();
    sources.push_back({.evaluator = &evaluator,
                       .names = std::move(names),
                       .resource = resource,
                       .classes = classes_.Of(resource).table,
                       .tracked = tracked,
                       .wanted_since = wanted.since,
                       .known_absent = wanted.known_absent});
    if (tracked != nullptr) {
      const informers::ReflectorState& state = tracked->state();
      sources.back().trouble = state.trouble;
      sources.back().forbidden = state.forbidden;
    }
  }
  for (auto& [at, names] : concerned.by_class) {
    const quota::Evaluator& evaluator = *api_.evaluators.shared()[at];
    const KnownClasses known = classes_.Of(evaluator.resource);
    for (auto& [resource, without] : classes_.WithoutKind(evaluator, names)) {
      sources.push_back(
          {.evaluator = &evaluator,
           .names = std::move(without),
           .resource = resource,
           .wanted_since = known.wanted_since,
           .known_absent = served_.IsAbsent(resource) || served_.IsUnknown(resource)});
    }
    if (known.table != nullptr) continue;
    sources.push_back({.evaluator = &evaluator,
                       .names = std::move(names),
                       .resource = evaluator.classes->resource,
                       .wanted_since = known.wanted_since,
                       .known_absent = known.unsaid,
                       .trouble = known.trouble});
  }
  return sources;
}

bool Tracker::OwnsAny(const quota::Evaluator& evaluator, const quota::ResourceList& hard) const {
  return quota::OwnsAny(evaluator, hard, classes_.OwningTable(evaluator));
}

quota::Beside Tracker::BesideOf(const quota::Evaluator& evaluator) const {
  quota::Beside beside;
  if (evaluator.classes) {
    const KnownClasses known = classes_.Of(evaluator.resource);
    // Without classes these objects would use nothing, and be admitted. Those that need their class
    // are counted and admitted with current classes only.
    const bool lacks_nothing = evaluator.classes->missing == quota::MissingClass::kUsesNothing;
    beside.classes = lacks_nothing ? known.last : known.table;
  }
  const TrackedResource* owners = evaluator.owners ? Find(*evaluator.owners) : nullptr;
  if (owners != nullptr) beside.owners = &owners->ledger();
  return beside;
}

bool Tracker::LacksScope(const quota::ScopeSelector& selector) const {
  return !quota::UndefinedScopes(api_, selector).empty();
}

std::vector<const quota::Evaluator*> Tracker::Constrained() const {
  std::vector<const quota::Evaluator*> evaluators;
  for (const auto& [resource, wanted] : resources_.wanted().entries()) {
    if (wanted.names > 0 && wanted.tracked) evaluators.push_back(wanted.evaluator.get());
  }
  return evaluators;
}

std::vector<std::shared_ptr<TrackedResource>> Tracker::Resynced() const {
  std::vector<std::shared_ptr<TrackedResource>> resynced = Watched();
  std::erase_if(resynced, [this](const auto& tracked) { return !tracked->IsFirst(listener_); });
  return resynced;
}

void Tracker::Relist() {
  for (const auto& tracked : Watched()) tracked->Relist();
  classes_.Relist();
}

void Tracker::Await(std::string_view resource, const std::string& version) {
  for (const auto& [known, wanted] : resources_.wanted().entries()) {
    if (wanted.tracked && known.ToString() == resource) wanted.tracked->Await(version);
  }
}

void Tracker::OnResourceStates() {
  if (AnyUnresolved()) changed_->Wake();
}

bool Tracker::IsLookDue() const {
  if (last_discovery_ == base::TimePoint{}) return true;
  const base::Duration since = clock_.Now() - last_discovery_;
  if (since >= kRediscoverIdle) return true;
  const bool never_asked_for = AnyUnresolved(last_discovery_);
  return never_asked_for || (AnyUnresolved() && since >= kRediscoverWanted);
}

base::Task<void> Tracker::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    StartServed();  // from the last discovery
    const bool due = IsLookDue();
    if (due) co_await Rediscover();
    co_await resources_.StopUnneeded();
    co_await classes_.StopUnneeded();
    const base::TimePoint look =
        last_discovery_ + (AnyUnresolved() ? kRediscoverWanted : kRediscoverIdle);
    const base::TimePoint next = classes_.NextDrop(resources_.NextDrop(look));
    co_await changed_->WaitUntil(std::max(next, clock_.Now() + kLeastWait));
  }
  co_await resources_.StopAll();
  co_await classes_.StopAll();
}

base::Task<void> Tracker::Rediscover() {
  // Set before the request: a name that is added during the request may need another discovery.
  last_discovery_ = clock_.Now();
  const auto refreshed = co_await served_.Refresh();
  StartServed();
  // If it failed, ServedResources has logged the error, and the known state stays.
  if (refreshed) resources_.NoteUnserved();
}

void Tracker::StartServed() {
  classes_.StartServed();
  shared_.Follow(served_.rules());
  resources_.StartServed();
}

}  // namespace controllers
