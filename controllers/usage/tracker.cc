#include "controllers/usage/tracker.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/quota/uncountable_names.h"

namespace controllers {
namespace {

constexpr std::chrono::seconds kRediscoverWanted{1};  // while a named resource is missing
constexpr std::chrono::seconds kRediscoverIdle{30};

}  // namespace

Tracker::Tracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
                 SharedResources& shared, UsageListener& listener, bool by_namespace)
    : context_(std::move(context)),
      api_(api),
      served_(served),
      shared_(shared),
      listener_(listener),
      by_namespace_(by_namespace),
      changed_(context_.scheduler->NewAlarm()),
      wanted_(api_, *context_.scheduler, *changed_),
      classes_(context_, api_, served_, shared_, listener_) {}

// The objects of a kind are counted by its own evaluator, whether or not it owns the name.
bool Tracker::Counts(const quota::Evaluator& evaluator, const std::string& name) const {
  return evaluator.owns(name) || CountedResource(name) == evaluator.resource;
}

std::optional<api::GroupResource> Tracker::CountedResource(const std::string& name) const {
  const bool counts = api_.counted_resource && api_.object_counter;
  return counts ? api_.counted_resource(name) : std::nullopt;
}

std::vector<SharedEvaluator> Tracker::EvaluatorsOf(const std::string& name) const {
  std::vector<SharedEvaluator> evaluators;
  for (const SharedEvaluator& evaluator : api_.evaluators.shared()) {
    if (Counts(*evaluator, name)) evaluators.push_back(evaluator);
  }
  const auto counted = CountedResource(name);
  if (!counted || api_.evaluators.Find(*counted) != nullptr) return evaluators;
  if (auto counter = api_.CountedBy(*counted)) evaluators.push_back(std::move(counter));
  return evaluators;
}

void Tracker::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  if (before != nullptr && after != nullptr && before->hard == after->hard) return;
  // The new names come first, so that a resource of both is not dropped in between.
  if (after != nullptr) Limit(*after);
  if (before != nullptr) Unlimit(*before);
  WantByClasses();
}

void Tracker::Limit(const quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (names_[name]++ > 0) continue;
    for (const SharedEvaluator& evaluator : EvaluatorsOf(name)) wanted_.Add(evaluator);
    if (classes_.OnName(name, true)) changed_->Wake();
    for (const auto& tracked : Watched()) tracked->Limit(name);
  }
  if (!by_namespace_) return;
  for (const auto& resource : LimitedBy(quota.hard)) ++namespaces_[resource][quota.key.ns];
}

void Tracker::Unlimit(const quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (--names_.at(name) > 0) continue;
    names_.erase(name);
    for (const SharedEvaluator& evaluator : EvaluatorsOf(name)) wanted_.Remove(evaluator->resource);
    if (classes_.OnName(name, false)) changed_->Wake();
    for (const auto& tracked : Watched()) tracked->Unlimit(name);
  }
  if (!by_namespace_) return;
  for (const auto& resource : LimitedBy(quota.hard)) UnlimitIn(resource, quota.key.ns);
}

std::set<api::GroupResource> Tracker::LimitedBy(const quota::ResourceList& hard) const {
  std::set<api::GroupResource> resources;
  for (const auto& [name, limit] : hard) {
    for (const SharedEvaluator& evaluator : EvaluatorsOf(name)) {
      resources.insert(evaluator->resource);
    }
  }
  for (const quota::Evaluator& evaluator : api_.evaluators) {
    if (!quota::NamesOfClasses(evaluator, hard).empty()) resources.insert(evaluator.resource);
  }
  return resources;
}

void Tracker::UnlimitIn(const api::GroupResource& resource, const std::string& ns) {
  LimitedNamespaces& limited = namespaces_.at(resource);
  if (--limited.at(ns) == 0) limited.erase(ns);
  if (limited.empty()) namespaces_.erase(resource);
}

bool Tracker::IsLimitedBy(const quota::Evaluator* evaluator,
                          const quota::ResourceList& hard) const {
  if (evaluator == nullptr) return false;
  const auto counts = [&](const auto& limit) { return Counts(*evaluator, limit.first); };
  return std::ranges::any_of(hard, counts) || !quota::NamesOfClasses(*evaluator, hard).empty();
}

std::vector<const quota::Quota*> Tracker::OnEvaluator(
    const SharedEvaluator& before, const SharedEvaluator& after,
    const std::vector<const quota::Quota*>& quotas) {
  const api::GroupResource resource = (after ? after : before)->resource;
  // Without an evaluator of its own, the objects of a kind are only counted.
  SharedEvaluator counter;
  if (auto objects = api_.object_counter ? api_.object_counter(resource) : std::nullopt) {
    counter = std::make_shared<const quota::Evaluator>(*std::move(objects));
  }
  const SharedEvaluator old = before ? before : counter;
  const SharedEvaluator now = after ? after : counter;
  for (const auto& [name, with_it] : names_) {
    if (now != nullptr && Counts(*now, name)) wanted_.Add(now);
  }
  for (const auto& [name, with_it] : names_) {
    if (old != nullptr && Counts(*old, name)) wanted_.Remove(resource);
  }
  std::vector<const quota::Quota*> limiting;
  for (const quota::Quota* quota : quotas) {
    const bool is_limiting = IsLimitedBy(now.get(), quota->hard);
    const bool was_limiting = IsLimitedBy(old.get(), quota->hard);
    if (by_namespace_ && is_limiting) ++namespaces_[resource][quota->key.ns];
    if (by_namespace_ && was_limiting) UnlimitIn(resource, quota->key.ns);
    if (is_limiting || was_limiting) limiting.push_back(quota);
  }
  if (now != nullptr) wanted_.Replace(now);
  classes_.OnEvaluator(before, after, names_);
  WantByClasses();
  const bool reads_classes = after && after->classes;
  if (!reads_classes && wanted_by_classes_.erase(resource) > 0) wanted_.Remove(resource);
  changed_->Wake();
  return limiting;
}

const LimitedNamespaces& Tracker::NamespacesOf(const api::GroupResource& resource) const {
  static const LimitedNamespaces none;
  const auto limited = namespaces_.find(resource);
  return limited == namespaces_.end() ? none : limited->second;
}

void Tracker::SetGroups(std::string_view ns, std::vector<std::string> groups) {
  for (const auto& tracked : Watched()) tracked->SetGroups(ns, groups);
  if (groups.empty()) {
    if (const auto known = groups_.find(ns); known != groups_.end()) groups_.erase(known);
  } else {
    groups_.insert_or_assign(std::string(ns), std::move(groups));
  }
}

// An evaluator is also wanted while it owns a name of a quota because of its classes, or may own
// one: admission must see its objects to refuse them.
void Tracker::WantByClasses() {
  for (const SharedEvaluator& evaluator : api_.evaluators.shared()) {
    if (!evaluator->classes) continue;
    const api::GroupResource& resource = evaluator->resource;
    const bool wanted = classes_.GiveNames(*evaluator);
    if (wanted && wanted_by_classes_.insert(resource).second) wanted_.Add(evaluator);
    if (!wanted && wanted_by_classes_.erase(resource) > 0) wanted_.Remove(resource);
  }
}

void Tracker::OnClasses() {
  WantByClasses();
  for (const auto& tracked : Watched()) tracked->OnClasses();
}

std::vector<UsageSource> Tracker::SourcesOf(const quota::ResourceList& hard) const {
  std::vector<UsageSource> sources;
  const WantedResources::Concerned concerned = wanted_.ConcernedBy(hard);
  for (const WantedResources::Entry* entry : concerned.owners) {
    const auto& [resource, wanted] = *entry;
    std::vector<std::string> names =
        quota::OwnedNames(*wanted.evaluator, hard, OwningClasses(*wanted.evaluator));
    if (names.empty()) continue;
    const TrackedResource* const tracked = wanted.current();
    sources.push_back({.evaluator = wanted.evaluator.get(),
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
  for (const std::size_t at : concerned.by_class) {
    const quota::Evaluator& evaluator = *api_.evaluators.shared()[at];
    std::vector<std::string> names = quota::NamesOfClasses(evaluator, hard);
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

const quota::ClassTable* Tracker::OwningClasses(const quota::Evaluator& evaluator) const {
  const bool by_class = evaluator.classes && evaluator.classes->owns;
  return by_class ? classes_.Of(evaluator.resource).table : nullptr;
}

bool Tracker::OwnsAny(const quota::Evaluator& evaluator, const quota::ResourceList& hard) const {
  return quota::OwnsAny(evaluator, hard, OwningClasses(evaluator));
}

const TrackedResource* Tracker::Find(const api::GroupResource& resource) const {
  const auto at = wanted_.entries().find(resource);
  return at == wanted_.entries().end() ? nullptr : at->second.current();
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

base::Error Tracker::WhyUnknown(const quota::Evaluator& evaluator) const {
  const std::optional<base::Error> trouble = classes_.Of(evaluator.resource).trouble;
  return {.code = base::ErrorCode::kUnavailable,
          .message = evaluator.classes->called + "es are not known" +
                     (trouble ? ": " + trouble->message : " yet")};
}

bool Tracker::LacksScope(const quota::ScopeSelector& selector) const {
  return !quota::UndefinedScopes(api_, selector).empty();
}

std::vector<const quota::Evaluator*> Tracker::Constrained() const {
  std::vector<const quota::Evaluator*> evaluators;
  for (const auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.names > 0 && wanted.tracked) evaluators.push_back(wanted.evaluator.get());
  }
  return evaluators;
}

std::vector<std::shared_ptr<TrackedResource>> Tracker::Watched() const {
  std::vector<std::shared_ptr<TrackedResource>> watched;
  for (const auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked) watched.push_back(wanted.tracked);
  }
  return watched;
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
  for (const auto& [known, wanted] : wanted_.entries()) {
    if (wanted.tracked && known.ToString() == resource) wanted.tracked->Await(version);
  }
}

bool Tracker::Settled() const {
  return classes_.Settled() &&
         std::all_of(wanted_.entries().begin(), wanted_.entries().end(), [](const auto& entry) {
           const Wanted& wanted = entry.second;
           if (wanted.names == 0 || wanted.known_absent) return true;
           const TrackedResource* const tracked = wanted.current();
           return tracked != nullptr && (tracked->synced() || tracked->state().trouble);
         });
}

void Tracker::OnResourceState() {
  if (AnyUnresolved()) changed_->Wake();
}

bool Tracker::AnyUnresolved(base::TimePoint since) const {
  return classes_.AnyUnresolved(since) ||
         std::any_of(wanted_.entries().begin(), wanted_.entries().end(), [&](const auto& entry) {
           const Wanted& wanted = entry.second;
           if (wanted.names == 0 || wanted.since <= since) return false;
           if (!wanted.tracked) return true;
           const auto& trouble = wanted.tracked->state().trouble;
           return trouble && trouble->Is(base::ErrorCode::kNotFound);
         });
}

bool Tracker::IsLookDue() const {
  if (last_discovery_ == base::TimePoint{}) return true;
  const base::Duration since = context_.scheduler->Now() - last_discovery_;
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
    co_await StopUnneeded();
    co_await changed_->WaitUntil(NextLook());
  }
  co_await StopAll();
}

base::Task<void> Tracker::Rediscover() {
  // Set before the request: a name that is added during the request may need another discovery.
  last_discovery_ = context_.scheduler->Now();
  const auto refreshed = co_await served_.Refresh();
  StartServed();
  if (!refreshed) co_return;  // ServedResources has logged the error; the known state stays
  // A first status does not wait for resources that the server does not serve, or whose group is
  // stale.
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked || wanted.names == 0) continue;
    const bool absent = served_.IsAbsent(resource);
    if (!absent && !served_.IsUnknown(resource)) continue;
    if (std::exchange(wanted.known_absent, true)) continue;
    LOG(WARNING) << "a quota names a resource that the server "
                 << (absent ? "does not serve" : "cannot say that it serves")
                 << " quota_api=" << api_.name << " resource=" << resource.ToString();
    listener_.OnResourceState(*wanted.evaluator);
  }
}

std::optional<api::GroupVersionResource> Tracker::ServedFor(
    const quota::Evaluator& evaluator) const {
  auto served = served_.Find(evaluator.resource);
  if (!served || evaluator.version.empty()) return served;
  served->version = evaluator.version;
  return served_.HasVersion(*served) ? served : std::nullopt;
}

void Tracker::StartServed() {
  classes_.StartServed();
  shared_.Follow(served_.rules());
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked || wanted.names == 0) continue;
    const auto served = ServedFor(*wanted.evaluator);
    if (!served) continue;
    wanted.known_absent = false;
    const auto classes = [this, of = resource] { return classes_.Of(of).table; };
    wanted.tracked =
        shared_.Acquire(context_, api_, *served, *wanted.evaluator, listener_, classes);
    TrackedResource& tracked = *wanted.tracked;
    for (const auto& [name, quotas] : names_) tracked.Limit(name);
    for (const auto& [ns, groups] : groups_) tracked.SetGroups(ns, groups);
    tracked.Start();
    // Nobody tells what a shared resource has listed before.
    if (tracked.synced() || tracked.state().trouble) listener_.OnResourceState(*wanted.evaluator);
  }
}

// A resource that others use keeps nothing of ours. It must be released then.
std::shared_ptr<TrackedResource> Tracker::Leave(Wanted& wanted) {
  std::shared_ptr<TrackedResource> tracked = std::exchange(wanted.tracked, {});
  for (const auto& [name, quotas] : names_) tracked->Unlimit(name);
  for (const auto& [ns, groups] : groups_) tracked->SetGroups(ns, {});
  return tracked;
}

base::Task<void> Tracker::StopUnneeded() {
  const base::TimePoint now = context_.scheduler->Now();
  std::vector<std::shared_ptr<TrackedResource>> stopping;
  for (auto entry = wanted_.entries().begin(); entry != wanted_.entries().end();) {
    Wanted& wanted = entry->second;
    const bool unneeded = wanted.names == 0 && now - wanted.unneeded_since >= kKeepUnneeded;
    const bool gone = wanted.tracked && served_.IsAbsent(entry->first);
    const bool moves = wanted.tracked && (wanted.current() == nullptr ||
                                          (!served_.HasVersion(wanted.tracked->resource()) &&
                                           ServedFor(wanted.tracked->evaluator())));
    const bool stops = wanted.tracked && (unneeded || gone || moves);
    if (stops) stopping.push_back(Leave(wanted));
    if (gone && !unneeded) wanted.known_absent = true;
    entry = unneeded ? wanted_.Erase(entry) : std::next(entry);
  }
  StartServed();  // restarts the ones that move to another version
  for (const std::shared_ptr<TrackedResource>& tracked : stopping) {
    LOG(INFO) << "no longer counting resource=" << tracked->resource().ToString()
              << " quota_api=" << api_.name;
    co_await shared_.Release(tracked, listener_);
    listener_.OnResourceState(tracked->evaluator());
  }
  co_await classes_.StopUnneeded();
}

base::Task<void> Tracker::StopAll() {
  std::vector<std::shared_ptr<TrackedResource>> stopping;
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked) stopping.push_back(Leave(wanted));
  }
  for (const auto& tracked : stopping) co_await shared_.Release(tracked, listener_);
  co_await classes_.StopAll();
}

base::TimePoint Tracker::NextLook() const {
  const base::TimePoint now = context_.scheduler->Now();
  base::TimePoint next = last_discovery_ + (AnyUnresolved() ? kRediscoverWanted : kRediscoverIdle);
  for (const auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.names == 0) next = std::min(next, wanted.unneeded_since + kKeepUnneeded);
  }
  return std::max(classes_.NextDrop(next), now + std::chrono::milliseconds(10));
}

}  // namespace controllers
