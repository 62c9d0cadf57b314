#include "controllers/usage/class_tracker.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace controllers {

ClassTracker::ClassTracker(TrackingContext context, const quota::QuotaApi& api,
                           ServedResources& served, SharedResources& shared,
                           UsageListener& listener)
    : context_(std::move(context)),
      api_(api),
      served_(served),
      shared_(shared),
      listener_(listener) {}

bool ClassTracker::OnName(const std::string& name, bool limited) {
  bool turned = false;
  for (const auto& evaluator : api_.evaluators.shared()) turned |= Set(evaluator, name, limited);
  return turned;
}

void ClassTracker::OnEvaluator(const SharedEvaluator& before, const SharedEvaluator& after,
                               const LimitedCounts& names) {
  const base::TimePoint now = context_.scheduler->Now();
  const auto known = wanted_.find((after ? after : before)->resource);
  if (known != wanted_.end() && !std::exchange(known->second.names, {}).empty()) {
    known->second.unneeded_since = now;
  }
  if (!after || !after->classes) return;
  for (const auto& [name, quotas] : names) Set(after, name, true);
  const auto at = wanted_.find(after->resource);
  if (at == wanted_.end()) return;
  // The next look replaces a watch that reads for the former evaluator.
  Wanted& wanted = at->second;
  wanted.evaluator = after;
  wanted.since = now;
  wanted.none = quota::ClassTable(after->classes->missing, after->classes->called);
  wanted.kinds.reset();
  wanted.generation = 0;
}

// Returns true if the classes became needed or unneeded.
bool ClassTracker::Set(const SharedEvaluator& evaluator, const std::string& name, bool limited) {
  if (!evaluator->classes || !evaluator->classes->concerns(name)) return false;
  Wanted& wanted = wanted_[evaluator->resource];
  if (wanted.evaluator == nullptr) {
    wanted.none = quota::ClassTable(evaluator->classes->missing, evaluator->classes->called);
  }
  wanted.evaluator = evaluator;
  const bool was_needed = !wanted.names.empty();
  if (limited) {
    wanted.names.insert(name);
  } else {
    wanted.names.erase(name);
  }
  const bool needed = !wanted.names.empty();
  if (needed == was_needed) return false;
  (needed ? wanted.since : wanted.unneeded_since) = context_.scheduler->Now();
  return true;
}

KnownClasses ClassTracker::Of(const api::GroupResource& resource) const {
  const auto at = wanted_.find(resource);
  if (at == wanted_.end()) return {};
  const Wanted& wanted = at->second;
  KnownClasses known{.table = nullptr,
                     .wanted_since = wanted.since,
                     .unsaid = wanted.unsaid,
                     .wanted = !wanted.names.empty()};
  if (wanted.kinds) known.table = &*wanted.kinds;
  if (wanted.watch && !IsCurrent(wanted)) return known;
  if (wanted.watch) {
    if (wanted.watch->synced()) known.table = &wanted.watch->table();
    if (wanted.watch->listed()) known.last = &wanted.watch->table();
    known.trouble = wanted.watch->state().trouble;
    known.forbidden = wanted.watch->state().forbidden;
  } else if (wanted.absent) {
    known.table = &wanted.none;
  }
  if (known.last == nullptr) known.last = known.table;
  return known;
}

const quota::ClassTable* ClassTracker::OwningTable(const quota::Evaluator& evaluator) const {
  const bool by_class = evaluator.classes && evaluator.classes->owns;
  return by_class ? Of(evaluator.resource).table : nullptr;
}

base::Error ClassTracker::WhyUnknown(const quota::Evaluator& evaluator) const {
  const std::optional<base::Error> trouble = Of(evaluator.resource).trouble;
  return {.code = base::ErrorCode::kUnavailable,
          .message = evaluator.classes->called + "es are not known" +
                     (trouble ? ": " + trouble->message : " yet")};
}

bool ClassTracker::GiveNames(const quota::Evaluator& evaluator) const {
  const auto at = wanted_.find(evaluator.resource);
  if (at == wanted_.end() || !evaluator.classes || !evaluator.classes->owns) return false;
  const Wanted& wanted = at->second;
  const bool unlisted = wanted.watch && !wanted.watch->listed() && wanted.watch->state().trouble;
  if (unlisted) return !wanted.names.empty();
  // During a relist or a failure the last known classes still count.
  const quota::ClassTable& table = wanted.watch ? wanted.watch->table() : wanted.none;
  return std::ranges::any_of(
      wanted.names, [&](const std::string& name) { return evaluator.classes->owns(name, table); });
}

bool ClassTracker::Settled() const {
  return std::all_of(wanted_.begin(), wanted_.end(), [](const auto& entry) {
    const Wanted& wanted = entry.second;
    if (wanted.names.empty() || wanted.absent || wanted.unsaid || wanted.kinds) return true;
    return wanted.watch && IsCurrent(wanted) &&
           (wanted.watch->synced() || wanted.watch->state().trouble);
  });
}

bool ClassTracker::AnyUnresolved(base::TimePoint since) const {
  return std::any_of(wanted_.begin(), wanted_.end(), [&, this](const auto& entry) {
    const Wanted& wanted = entry.second;
    if (wanted.names.empty() || wanted.since <= since) return false;
    const auto lacks_kind = [this](const std::string& name) {
      const auto resource = api_.counted_resource(name);
      return resource && !served_.Find(*resource);
    };
    if (wanted.evaluator->classes->usage_of_kind) {
      return !wanted.kinds || std::ranges::any_of(wanted.names, lacks_kind);
    }
    // If objects cannot be measured without their class, missing classes make all their usage
    // unknown.
    const bool missed = wanted.evaluator->classes->missing == quota::MissingClass::kUnknown;
    if (!wanted.watch) return missed || !wanted.absent;
    const auto& trouble = wanted.watch->state().trouble;
    return trouble && trouble->Is(base::ErrorCode::kNotFound);
  });
}

base::TimePoint ClassTracker::NextDrop(base::TimePoint latest) const {
  for (const auto& [resource, wanted] : wanted_) {
    if (wanted.names.empty()) latest = std::min(latest, wanted.unneeded_since + kKeepUnneeded);
  }
  return latest;
}

void ClassTracker::StartServed() {
  for (auto& [resource, wanted] : wanted_) {
    if (wanted.watch || wanted.names.empty()) continue;
    if (wanted.evaluator->classes->usage_of_kind) {
      LearnKinds(wanted);
      continue;
    }
    const auto served = ServedFor(*wanted.evaluator->classes);
    if (!served) {
      const api::GroupResource& classes = wanted.evaluator->classes->resource;
      const bool absent = served_.IsAbsent(classes, ResourceScope::kCluster);
      const bool unsaid = served_.IsUnknown(classes, ResourceScope::kCluster);
      if (absent == wanted.absent && unsaid == wanted.unsaid) continue;
      wanted.absent = absent;
      wanted.unsaid = unsaid;
      VLOG(1) << "classes are " << (absent ? "not served" : "perhaps served")
              << " resource=" << classes.ToString();
      listener_.OnClassState(*wanted.evaluator);
      continue;
    }
    wanted.absent = wanted.unsaid = false;
    wanted.watch = shared_.AcquireClasses(context_, api_, *served, *wanted.evaluator, listener_);
    wanted.watch->Start();
    // Nobody tells what a shared watch has listed before.
    if (wanted.watch->listed()) listener_.OnClassState(*wanted.evaluator);
  }
}

// Takes the kinds from the last answer of discovery. A kind that several resources serve counts
// under each of them.
void ClassTracker::LearnKinds(Wanted& wanted) {
  if (wanted.generation == served_.generation()) return;
  wanted.generation = served_.generation();
  const bool first = !wanted.kinds.has_value();
  if (first) wanted.kinds.emplace();
  const quota::Evaluator& evaluator = *wanted.evaluator;
  std::map<std::string, quota::ResourceList> served;
  served_.ForEachKind([&](const api::GroupResource& resource, const std::string& kind) {
    served[quota::KindClass(resource.group, kind)].Add(evaluator.classes->usage_of_kind(resource));
  });
  std::vector<std::string> changed;
  wanted.kinds->BeginSweep();
  for (auto& [name, usage] : served) {
    if (wanted.kinds->Set(name, std::move(usage))) changed.push_back(name);
  }
  const std::vector<std::string> removed = wanted.kinds->EndSweep();
  changed.insert(changed.end(), removed.begin(), removed.end());
  if (first) return listener_.OnClassState(evaluator);
  if (changed.empty()) return;
  for (const std::string& name : changed) listener_.OnClassChange(evaluator, name);
  // The kind of a name may have appeared or disappeared, even if it has no objects.
  listener_.OnClassState(evaluator);
}

std::map<api::GroupResource, std::vector<std::string>> ClassTracker::WithoutKind(
    const quota::Evaluator& evaluator, const std::vector<std::string>& names) const {
  std::map<api::GroupResource, std::vector<std::string>> without;
  if (!evaluator.classes || !evaluator.classes->usage_of_kind) return without;
  for (const std::string& name : names) {
    const auto resource = api_.counted_resource(name);
    if (resource && !served_.Find(*resource)) without[*resource].push_back(name);
  }
  return without;
}

// False: the watch reads for a former evaluator.
bool ClassTracker::IsCurrent(const Wanted& wanted) {
  return wanted.watch->evaluator().revision == wanted.evaluator->revision;
}

bool ClassTracker::MustStop(const Wanted& wanted) const {
  return !IsCurrent(wanted) || wanted.watch->IsOver(served_, ResourceScope::kCluster);
}

base::Task<void> ClassTracker::StopUnneeded() {
  const base::TimePoint now = context_.scheduler->Now();
  std::map<std::shared_ptr<ClassWatch>, SharedEvaluator> stopping;
  for (auto entry = wanted_.begin(); entry != wanted_.end();) {
    Wanted& wanted = entry->second;
    const bool unneeded = wanted.names.empty() && now - wanted.unneeded_since >= kKeepUnneeded;
    if (wanted.watch && (unneeded || MustStop(wanted))) {
      stopping.emplace(std::exchange(wanted.watch, {}), wanted.evaluator);
      wanted.absent =
          served_.IsAbsent(wanted.evaluator->classes->resource, ResourceScope::kCluster);
    }
    entry = unneeded ? wanted_.erase(entry) : std::next(entry);
  }
  StartServed();  // restarts watches that move to another version
  for (const auto& [watch, evaluator] : stopping) {
    LOG(INFO) << "no longer reading classes resource=" << watch->resource().ToString()
              << " quota_api=" << api_.name;
    co_await shared_.Release(watch, listener_);
    listener_.OnClassState(*evaluator);
  }
}

void ClassTracker::Relist() {
  for (const auto& [resource, wanted] : wanted_) {
    if (wanted.watch) wanted.watch->Relist();
  }
}

base::Task<void> ClassTracker::StopAll() {
  std::vector<std::shared_ptr<ClassWatch>> stopping;
  for (auto& [resource, wanted] : wanted_) {
    if (wanted.watch) stopping.push_back(std::exchange(wanted.watch, {}));
  }
  for (const auto& watch : stopping) co_await shared_.Release(watch, listener_);
}

}  // namespace controllers
