// Sums the usage of a ledger's objects: facts times their number, with classes looked up, and minus
// what tied objects share with their owners (running_sum.h). Contents keeps the sums that are in
// use.

#include <glog/logging.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_state.h"
#include "pkg/quota/running_sum.h"

namespace quota {
namespace {

// An object that is an example must be among so many that cannot be read.
constexpr int kMostExamples = 100;

base::Error UnreadObjects(std::int64_t objects, const std::string& ns, const std::string& why) {
  std::string message = objects == 1 ? "namespace " + ns + " has an object that cannot be counted: "
                                     : std::to_string(objects) +
                                           " objects cannot be counted, for example in namespace " +
                                           ns + ": ";
  return {.code = base::ErrorCode::kMalformed, .message = std::move(message) + why};
}

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

ResourceList Zeros(const std::vector<std::string>& names) {
  ResourceList zeros;
  for (const std::string& name : names) zeros.Set(name, Quantity());
  return zeros;
}

SumQuestion QuestionOf(const ScopeSelector& selector, const std::vector<std::string>& known_scopes,
                       const std::vector<std::string>& names, const Beside& beside) {
  return {.selector = selector,
          .known_scopes = known_scopes,
          .names = Sorted(names),
          .classes = beside.classes,
          .contents =
              beside.classes != nullptr ? beside.classes->contents() : std::weak_ptr<const void>(),
          .shares = beside.owners != nullptr};
}

}  // namespace

base::Error Ledger::State::WhyUnread(const Space& space, const SumQuestion& question,
                                     std::int64_t unread) {
  Namespaces in_group;
  if (Namespace* const one = space.group.empty() ? Find(space.ns) : nullptr) in_group = {one};
  const NamespaceGroup* const group = groups.Find(space.group);
  const auto concerns = [&](const Facts* facts) {
    if (facts == nullptr) return true;
    if (!MatchesObject(question.selector, *facts, question.known_scopes)) return false;
    return std::ranges::any_of(facts->unread, [&](const std::string& name) {
      return std::ranges::binary_search(question.names, name);
    });
  };
  int looks = 0;
  for (const Namespace* one : group != nullptr ? group->unreadable : in_group) {
    for (const auto& [uid, why] : one->why) {
      if (++looks > kMostExamples) {
        return {.code = base::ErrorCode::kMalformed,
                .message = "objects that cannot be counted: " + std::to_string(unread)};
      }
      const std::size_t slot = one->objects.Find(uid);
      CHECK(slot != UidTable::kNone) << one->name << " says why it cannot count what it lacks";
      const auto facts = Look(one->objects.value(slot));
      if (concerns(facts.get())) return UnreadObjects(unread, one->name, why);
    }
  }
  LOG(FATAL) << unread << " objects cannot be counted, and every object can be";
  std::abort();
}

SumOfContents Ledger::State::Sum(const Space& space, const SumQuestion& question,
                                 const Ledger* owners) {
  Contents* const contents = ContentsOf(space);
  if (contents == nullptr) return {.usage = Zeros(question.names)};
  if (owners != nullptr) LookUpShared(space, *owners);
  return contents->Sum(pool, question, audit);
}

base::Result<ResourceList> Ledger::Sum(const Space& space, const ScopeSelector& selector,
                                       const std::vector<std::string>& known_scopes,
                                       const std::vector<std::string>& names,
                                       const Beside& beside) const {
  LeastUsage sum = Least(space, selector, known_scopes, names, beside);
  if (!sum.unknown.empty()) return std::move(sum.unknown.front().why);
  return std::move(sum.usage);
}

LeastUsage Ledger::Least(const Space& space, const ScopeSelector& selector,
                         const std::vector<std::string>& known_scopes,
                         const std::vector<std::string>& names, const Beside& beside) const {
  const SumQuestion question = QuestionOf(selector, known_scopes, names, beside);
  SumOfContents sum = state_->Sum(space, question, beside.owners);
  LeastUsage least{std::move(sum.usage), std::move(sum.by_class)};
  if (!sum.unread.empty()) {
    base::Error why = state_->WhyUnread(space, question, sum.unread_objects);
    least.unknown.push_back({std::move(why), std::move(sum.unread)});
  }
  return least;
}

std::size_t Ledger::TakeWrongSums() { return std::exchange(state_->audit.wrong, 0); }

base::Result<ResourceList> Ledger::UsageOf(std::string_view ns, const Facts& facts, const Tie* tie,
                                           const Beside& beside) const {
  base::Result<ResourceList> usage = ResolvedUsage(facts, beside.classes);
  const bool tied = tie != nullptr && tie->owner && beside.owners != nullptr;
  if (!usage || !tied) return usage;
  const auto owner = beside.owners->Find(ns, *tie->owner);
  if (owner == nullptr) return usage;
  const Namespace* space = state_->Find(ns);
  const Tie* of_owner = beside.owners->FindTie(ns, *tie->owner);
  const bool meant = space != nullptr ? space->ties.IsMeant(*tie, of_owner)
                                      : of_owner == nullptr || of_owner->name == tie->name;
  if (!meant) return usage;
  usage->Add(Common(*usage, owner->usage), -1);
  return usage;
}

bool Ledger::RefersToAny(const Space& space, const std::set<std::string>& classes) const {
  const Contents* const contents = state_->ContentsOf(space);
  if (contents == nullptr) return false;
  return std::ranges::any_of(contents->counts(), [&](const auto& entry) {
    const auto& units = state_->pool.Get(entry.first)->classes;
    return std::any_of(units.begin(), units.end(),
                       [&](const ClassUnits& unit) { return classes.contains(unit.name); });
  });
}

}  // namespace quota
