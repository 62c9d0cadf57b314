// Usage that depends on several objects: on classes, and on the owners of tied objects.

#include "controllers/usage/observed_usage.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

// A missing class gets an event of its own: the object itself is valid.
Obstacle ObstacleOf(const quota::Evaluator& evaluator, const base::Error& error) {
  const bool missing = error.Is(base::ErrorCode::kNotFound);
  return {.kind = missing ? Obstacle::Kind::kClassMissing : Obstacle::Kind::kUnreadable,
          .resource = (missing ? evaluator.classes->resource : evaluator.resource).ToString(),
          .names = {},
          .why = error.message};
}

// Keeps one obstacle for each resource.
void AddTo(std::vector<Obstacle>& obstacles, Obstacle more, std::vector<std::string> names) {
  const auto same = std::ranges::find(obstacles, more.resource, &Obstacle::resource);
  Obstacle& obstacle = same == obstacles.end() ? obstacles.emplace_back(std::move(more)) : *same;
  std::ranges::move(names, std::back_inserter(obstacle.names));
}

std::vector<std::string> NamesOf(const quota::ResourceList& amounts) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : amounts) names.push_back(name);
  return names;
}

}  // namespace

base::TimePoint ObservedUsage::BehindUntil(const UsageSource& source) const {
  // During a failure or a standstill reservations end, but the watch has not shown their objects
  // yet.
  return std::max(source.tracked->behind_until(),
                  stalls_.ShownAt(scheduler_.Now(), accounting::kCatchesUpAfterStandstill));
}

base::TimePoint ObservedUsage::BehindUntil(const quota::Quota& quota) const {
  base::TimePoint behind_until = base::TimePoint::min();
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr) continue;
    const bool listed = source.tracked->synced();
    behind_until = std::max(behind_until, listed ? BehindUntil(source) : base::TimePoint::max());
  }
  if (const auto* labels = LabelsOf(quota)) {
    behind_until = std::max(behind_until, labels->BehindUntil(quota.key.name));
  }
  return behind_until;
}

void ObservedUsage::NoteLag(base::TimePoint until, const std::vector<std::string>& names,
                            QuotaCount& count) const {
  count.behind_until = std::max(count.behind_until, until);
  if (until <= scheduler_.Now()) return;
  count.catches_up_at = std::min(count.catches_up_at, until);
  std::ranges::copy(names, std::back_inserter(count.observed.partial));
}

QuotaCount ObservedUsage::Count(const quota::Quota& quota, base::Duration patience) const {
  if (tracker_.LacksScope(quota.selector)) {
    QuotaCount none;
    none.observed.unknown = NamesOf(quota.hard);
    return none;
  }
  const NamespaceLabels* const labels = LabelsOf(quota);
  if (labels == nullptr) return CountObjects(quota, patience);
  const std::vector<std::string> names = NamesOf(quota.hard);
  if (std::optional<Obstacle> incomplete = labels->Incomplete(patience)) {
    QuotaCount none;
    none.observed.unknown = names;
    none.pending = incomplete->kind == Obstacle::Kind::kPending;
    if (!none.pending) none.trouble = incomplete->why;
    incomplete->names = names;
    none.obstacles.push_back(std::move(*incomplete));
    return none;
  }
  QuotaCount count = CountObjects(quota, patience);
  const base::TimePoint behind_until = labels->BehindUntil(quota.key.name);
  if (behind_until > scheduler_.Now()) count.observed.partial.clear();  // `names` has them all
  NoteLag(behind_until, names, count);
  return count;
}

QuotaCount ObservedUsage::CountObjects(const quota::Quota& quota, base::Duration patience) const {
  QuotaCount count;
  std::vector<std::string>& unknown = count.observed.unknown;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr || !source.tracked->synced()) {
      const bool may_be_done_soon = !source.known_absent && !source.trouble &&
                                    scheduler_.Now() - source.wanted_since <= patience;
      count.pending = count.pending || may_be_done_soon;
      unknown.insert(unknown.end(), source.names.begin(), source.names.end());
      // The names that these objects will count by class, once listed, are unknown as well.
      const bool coming = source.evaluator->classes && !source.known_absent;
      if (coming)
        std::ranges::copy(quota::NamesOfClasses(*source.evaluator, quota.hard),
                          std::back_inserter(unknown));
      continue;
    }
    NoteLag(BehindUntil(source), source.names, count);
    for (const auto& [name, limit] : quota.hard) {
      const auto since = source.tracked->facts().UnreadSince(name);
      if (!since) continue;
      unknown.push_back(name);
      count.pending = count.pending || scheduler_.Now() - *since <= patience;
    }
    for (Obstacle& obstacle : AddUsage(source, quota, count.observed)) {
      count.trouble += (count.trouble.empty() ? "" : "; ") + obstacle.why;
      count.obstacles.push_back(std::move(obstacle));
    }
  }
  // If two evaluators share a name, it is known only if both are.
  const std::set<std::string_view> not_known(unknown.begin(), unknown.end());
  count.observed.used.EraseIf([&](const auto& item) { return not_known.contains(item.first); });
  return count;
}

const quota::ClassTable* ObservedUsage::ClassesOf(const quota::Evaluator& evaluator) const {
  return tracker_.BesideOf(evaluator).classes;
}

bool ObservedUsage::HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                             std::string_view resource_version) const {
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  return tracked != nullptr && tracked->shown().HasLater(uid, resource_version);
}

// Adds the usage of the source's objects under the quota's names to `observed`. Names that cannot
// be summed are unknown, and the result says why. A quota over many namespaces counts what can be
// read: an object of one tenant, or its missing class, must not end the counts of all others.
//
// All names that depend on classes are summed, not only those that the evaluator owns: as upstream,
// an object counts under each name that it uses, once its kind counts for the quota at all.
std::vector<Obstacle> ObservedUsage::AddUsage(const UsageSource& source, const quota::Quota& quota,
                                              quota::Observed& observed) const {
  const quota::Evaluator& evaluator = *source.evaluator;
  const std::vector<std::string> by_class = quota::NamesOfClasses(evaluator, quota.hard);
  const quota::Space space = quota::SpaceOf(quota.key);
  const quota::Ledger& ledger = source.tracked->ledger();
  const bool counts_in_part = !space.group.empty();
  std::vector<Obstacle> obstacles;
  // All of these lists are sorted, and a quota can have tens of thousands of names.
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::binary_search(names, name);
  };
  const auto add = [&](const std::vector<std::string>& names, const quota::Beside& beside) {
    if (names.empty()) return;
    quota::LeastUsage sum = ledger.Least(space, quota.selector, evaluator.scopes, names, beside);
    for (quota::UnknownUsage& unknown : sum.unknown) {
      Obstacle obstacle = ObstacleOf(evaluator, unknown.why);
      obstacle.in_part = counts_in_part;
      if (!counts_in_part) {
        sum.usage.EraseIf([&](const auto& item) { return contains(unknown.names, item.first); });
      }
      std::erase_if(unknown.names, [&](const auto& name) { return !contains(source.names, name); });
      if (!counts_in_part) std::ranges::copy(unknown.names, std::back_inserter(observed.unknown));
      AddTo(obstacles, std::move(obstacle), std::move(unknown.names));
    }
    observed.used.Add(sum.usage);
  };
  std::vector<std::string> others = source.names;
  std::erase_if(others, [&](const auto& name) { return contains(by_class, name); });
  add(others, {});
  if (source.classes != nullptr) add(by_class, tracker_.BesideOf(evaluator));
  return obstacles;
}

quota::ResourceList ObservedUsage::UsageOf(const quota::Quota& quota,
                                           const quota::Evaluator& evaluator, std::string_view ns,
                                           const quota::Uid& uid, const quota::Facts& facts) const {
  if (!quota::MatchesObject(quota.selector, facts, evaluator.scopes)) return {};
  if (quota::CountsParts(quota.selector, facts)) {
    return quota::UsageOfParts(quota.selector, facts, evaluator.scopes);
  }
  if (!evaluator.classes && !evaluator.owners) return facts.usage;
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  if (tracked == nullptr) return facts.usage;
  const quota::Beside beside = tracker_.BesideOf(evaluator);
  const quota::Ledger& ledger = tracked->ledger();
  const auto usage = ledger.UsageOf(ns, facts, ledger.FindTie(ns, uid), beside);
  if (usage) return *usage;
  if (beside.classes == nullptr || beside.owners != nullptr) return facts.usage;
  // Uses the amounts that a class has, even if it lacks others: each name is charged by itself.
  std::optional<quota::UnknownUsage> unknown;
  return beside.classes->ResolveKnown(facts, unknown);
}

base::Result<quota::Resolved> ObservedUsage::SubjectOf(const quota::Evaluator& evaluator,
                                                       std::string_view ns,
                                                       const quota::ObjectFacts& facts) const {
  quota::Resolved resolved{
      {.usage = facts.now.usage, .attributes = facts.now.attributes, .parts = facts.now.parts}};
  const quota::Beside beside = tracker_.BesideOf(evaluator);
  const bool needs_classes =
      evaluator.classes && evaluator.classes->missing == quota::MissingClass::kUnknown;
  if (needs_classes) {
    const quota::ClassTable none(evaluator.classes->missing, evaluator.classes->called);
    const quota::ClassTable& table = beside.classes != nullptr ? *beside.classes : none;
    resolved.subject.usage = table.ResolveKnown(facts.now, resolved.unknown);
    return resolved;
  }
  if (evaluator.classes && beside.classes == nullptr && !facts.now.classes.empty()) {
    resolved.unknown = quota::UnknownUsage{tracker_.WhyUnknown(evaluator)};
  }
  const bool resolves = evaluator.classes || evaluator.owners;
  const TrackedResource* tracked = resolves ? tracker_.Find(evaluator.resource) : nullptr;
  if (tracked == nullptr) return resolved;
  auto usage = tracked->ledger().UsageOf(ns, facts.now, facts.tie ? &*facts.tie : nullptr, beside);
  if (!usage) return usage.error();
  resolved.subject.usage = std::move(*usage);
  return resolved;
}

base::Task<base::Result<quota::ClassUsage>> ObservedUsage::ReadClass(
    const quota::Evaluator& evaluator, std::string name, base::TimePoint deadline) {
  return reads_.ReadClass(evaluator, std::move(name), deadline);
}

base::Task<base::Result<std::optional<admission::ScaledObject>>> ObservedUsage::ReadScaled(
    const quota::Evaluator& evaluator, std::string ns, std::string name, base::TimePoint deadline) {
  return reads_.ReadScaled(evaluator, std::move(ns), std::move(name), deadline);
}

base::Task<bool> ObservedUsage::IsTaken(const quota::Evaluator& evaluator, std::string ns,
                                        std::string name, quota::Uid uid,
                                        base::TimePoint deadline) {
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  const bool maybe =
      tracked != nullptr && tracked->ledger().MayHoldOther(ns, quota::NameMarkOf(name), uid);
  if (!maybe) co_return false;
  co_return co_await reads_.IsTaken(tracked->resource().Path(ns), std::move(name), uid, deadline);
}

}  // namespace controllers
