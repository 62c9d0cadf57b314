// Sums the usage of a ledger's objects: facts times their number, with classes looked up, and minus
// what tied objects share with their owners.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_state.h"

namespace quota {
namespace {

// Adds up usage under names that are fixed beforehand, without an allocation for each Facts.
class Accumulator {
 public:
  explicit Accumulator(const std::vector<std::string>& names) {
    for (const std::string& name : names) totals_.emplace_back(name, Quantity());
    std::sort(totals_.begin(), totals_.end(), Before);
  }

  void Add(const ResourceList& usage, std::int64_t times) {
    for (const auto& [name, quantity] : usage) {
      const Total wanted{name, Quantity()};
      const auto at = std::lower_bound(totals_.begin(), totals_.end(), wanted, Before);
      if (at == totals_.end() || at->first != name) continue;
      at->second = at->second.Add(quantity.Mul(times));
    }
  }

  [[nodiscard]] ResourceList Result() const {
    ResourceList list;
    list.Reserve(totals_.size());
    for (const auto& [name, total] : totals_) list.Set(name, total);
    return list;
  }

 private:
  using Total = std::pair<std::string_view, Quantity>;
  static bool Before(const Total& a, const Total& b) { return a.first < b.first; }

  std::vector<Total> totals_;  // sorted by name
};

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

// For each name in both lists with positive amounts, the smaller amount.
ResourceList Common(const ResourceList& a, const ResourceList& b) {
  ResourceList common;
  for (const auto& [name, amount] : a) {
    const Quantity* other = b.Find(name);
    if (other == nullptr || amount.Sign() <= 0 || other->Sign() <= 0) continue;
    common.Set(name, std::min(amount, *other));
  }
  return common;
}

// Why classes are unknown; independent of the order in which it is found.
class ClassTroubles {
 public:
  void Add(base::Error error) { errors_.emplace(error.message, std::move(error)); }
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  // REQUIRES: not empty().
  [[nodiscard]] base::Error Error() const {
    base::Error error = errors_.begin()->second;
    if (errors_.size() > 1) {
      error.message += ", and " + std::to_string(errors_.size() - 1) + " more";
    }
    return error;
  }

 private:
  std::map<std::string, base::Error> errors_;
};

// The inputs of a sum, its state, and what could not be summed.
struct Summing {
  const ScopeSelector& selector;
  const std::vector<std::string>& known_scopes;
  const std::vector<std::string>& names;
  const ClassTable* classes;
  Accumulator sum;
  ClassTroubles troubles = {};
};

// Adds the usage of `count` objects with these facts.
void AddFacts(const Facts& facts, std::size_t count, Summing& summing) {
  const auto times = static_cast<std::int64_t>(count);
  if (CountsParts(summing.selector, facts)) {
    return summing.sum.Add(UsageOfParts(summing.selector, facts, summing.known_scopes), times);
  }
  if (facts.classes.empty() || summing.classes == nullptr) {
    return summing.sum.Add(facts.usage, times);
  }
  const base::Result<ResourceList> usage = summing.classes->Resolve(facts, &summing.names);
  if (usage) return summing.sum.Add(*usage, times);
  summing.troubles.Add(usage.error());
}

void AddCounts(const FactsPool& pool, const FactsCounts& counts, Summing& summing) {
  for (const auto& [id, count] : counts) {
    const Facts& facts = *pool.Get(id);
    if (!MatchesObject(summing.selector, facts, summing.known_scopes)) continue;
    AddFacts(facts, count, summing);
  }
}

base::Result<ResourceList> ResolvedUsage(const Facts& facts, const ClassTable* classes) {
  if (facts.classes.empty() || classes == nullptr) return facts.usage;
  return classes->Resolve(facts);
}

// Subtracts what tied objects share with their owners.
base::Result<void> SubtractShared(const Ties::Pairs& shared, Summing& summing) {
  for (const auto& [pair, count] : shared) {
    const auto& [facts, owner] = pair;
    if (!Matches(summing.selector, facts->attributes, summing.known_scopes)) continue;
    const auto usage = ResolvedUsage(*facts, summing.classes);
    if (!usage) return usage.error();
    summing.sum.Add(Common(*usage, owner->usage), -static_cast<std::int64_t>(count));
  }
  return {};
}

}  // namespace

base::Result<ResourceList> Ledger::Sum(const Space& space, const ScopeSelector& selector,
                                       const std::vector<std::string>& known_scopes,
                                       const std::vector<std::string>& names,
                                       const Beside& beside) const {
  Summing summing{.selector = selector,
                  .known_scopes = known_scopes,
                  .names = names,
                  .classes = beside.classes,
                  .sum = Accumulator(names)};
  const State::Held held = state_->HeldIn(space);
  if (held.counts == nullptr) return summing.sum.Result();
  if (held.unreadable != nullptr) return UnknownObjects(*held.unreadable, held.more_unreadable);
  AddCounts(state_->pool, *held.counts, summing);
  if (!summing.troubles.empty()) return summing.troubles.Error();
  if (beside.owners == nullptr) return summing.sum.Result();
  const Ties::Pairs* const shared = state_->SharedIn(space, *beside.owners);
  if (shared == nullptr) return summing.sum.Result();
  if (const auto taken = SubtractShared(*shared, summing); !taken) return taken.error();
  return summing.sum.Result();
}

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
  if (held.counts == nullptr) return false;
  return std::any_of(held.counts->begin(), held.counts->end(), [&](const auto& entry) {
    const auto& units = state_->pool.Get(entry.first)->classes;
    return std::any_of(units.begin(), units.end(),
                       [&](const ClassUnits& unit) { return classes.contains(unit.name); });
  });
}

}  // namespace quota
