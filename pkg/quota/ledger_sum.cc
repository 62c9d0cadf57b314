// Sums the usage of a ledger's objects: facts times their number, with classes looked up, and minus
// what tied objects share with their owners (running_sum.h). Contents keeps the sums that are in
// use.

#include <algorithm>
#include <string>
#include <utility>

#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_state.h"
#include "pkg/quota/running_sum.h"

namespace quota {
namespace {

// `others`: the number of other namespaces with such objects.
base::Error UnknownObjects(const Namespace& space, std::size_t others) {
  const std::string& why = space.why.begin()->second;
  const std::string what = space.why.size() == 1
                               ? "an object"
                               : std::to_string(space.why.size()) + " objects, for example";
  std::string message = "namespace " + space.name + " has " + what + " that cannot be counted: ";
  message += why;
  if (others > 0) {
    message += ", and " + std::to_string(others) + " other namespace" +
               (others == 1 ? " has such objects" : "s have such objects");
  }
  return {.code = base::ErrorCode::kMalformed, .message = std::move(message)};
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

}  // namespace

base::Result<ResourceList> Ledger::Sum(const Space& space, const ScopeSelector& selector,
                                       const std::vector<std::string>& known_scopes,
                                       const std::vector<std::string>& names,
                                       const Beside& beside) const {
  const State::Held held = state_->HeldIn(space);
  if (held.contents == nullptr) return Zeros(names);
  if (held.unreadable != nullptr) return UnknownObjects(*held.unreadable, held.more_unreadable);
  if (beside.owners != nullptr) state_->LookUpShared(space, *beside.owners);
  const SumQuestion question{.selector = selector,
                             .known_scopes = known_scopes,
                             .names = Sorted(names),
                             .classes = beside.classes,
                             .contents = beside.classes != nullptr ? beside.classes->contents()
                                                                   : std::weak_ptr<const void>(),
                             .shares = beside.owners != nullptr};
  return held.contents->Sum(state_->pool, question, state_->audit);
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
  const State::Held held = state_->HeldIn(space);
  if (held.contents == nullptr) return false;
  return std::ranges::any_of(held.contents->counts(), [&](const auto& entry) {
    const auto& units = state_->pool.Get(entry.first)->classes;
    return std::any_of(units.begin(), units.end(),
                       [&](const ClassUnits& unit) { return classes.contains(unit.name); });
  });
}

}  // namespace quota
