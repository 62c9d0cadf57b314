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

  base::Result<void> Add(const ResourceList& usage, std::int64_t times) {
    for (const auto& [name, quantity] : usage) {
      const Total wanted{name, Quantity()};
      const auto at = std::lower_bound(totals_.begin(), totals_.end(), wanted, Before);
      if (at == totals_.end() || at->first != name) continue;
      const base::Result<Quantity> addend = quantity.Mul(times);
      if (!addend) return addend.error().Wrap(name);
      const base::Result<Quantity> sum = at->second.Add(*addend);
      if (!sum) return sum.error().Wrap(name);
      at->second = *sum;
    }
    return {};
  }

  [[nodiscard]] ResourceList Result() const {
    ResourceList list;
    for (const auto& [name, total] : totals_) list.Set(name, total);
    return list;
  }

 private:
  using Total = std::pair<std::string_view, Quantity>;
  static bool Before(const Total& a, const Total& b) { return a.first < b.first; }

  std::vector<Total> totals_;  // sorted by name
};

base::Error UnknownObjects(const Namespace& space) {
  const std::string& why = space.why.begin()->second;
  const std::string what = space.why.size() == 1
                               ? "an object"
                               : std::to_string(space.why.size()) + " objects, for example";
  return {
      .code = base::ErrorCode::kMalformed,
      .message = "namespace " + space.name + " has " + what + " that cannot be counted: " + why};
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

// What facts are summed with, and what could not be summed.
struct Summing {
  const std::vector<std::string>& names;
  const ClassTable* classes;
  Accumulator sum;
  ClassTroubles troubles;
};

// Adds the usage of `count` objects with these facts.
base::Result<void> AddFacts(const Facts& facts, std::size_t count, Summing& summing) {
  const auto times = static_cast<std::int64_t>(count);
  if (facts.classes.empty() || summing.classes == nullptr) {
    return summing.sum.Add(facts.usage, times);
  }
  const base::Result<ResourceList> usage = summing.classes->Resolve(facts, &summing.names);
  if (usage) return summing.sum.Add(*usage, times);
  summing.troubles.Add(usage.error());
  return {};
}

base::Result<ResourceList> ResolvedUsage(const Facts& facts, const ClassTable* classes) {
  if (facts.classes.empty() || classes == nullptr) return facts.usage;
  return classes->Resolve(facts);
}

}  // namespace

base::Result<ResourceList> Ledger::Sum(std::string_view ns, const ScopeSelector& selector,
                                       const std::vector<std::string>& known_scopes,
                                       const std::vector<std::string>& names,
                                       const Beside& beside) const {
  Summing summing{
      .names = names, .classes = beside.classes, .sum = Accumulator(names), .troubles = {}};
  Accumulator& sum = summing.sum;
  Namespace* const space = state_->Find(ns);
  if (space == nullptr) return sum.Result();
  if (!space->why.empty()) return UnknownObjects(*space);
  for (const auto& [id, count] : space->counts) {
    const Facts& facts = *state_->pool.Get(id);
    if (!MatchesObject(selector, facts, known_scopes)) continue;
    const auto added =
        CountsParts(selector, facts)
            ? sum.Add(UsageOfParts(selector, facts, known_scopes), static_cast<std::int64_t>(count))
            : AddFacts(facts, count, summing);
    if (!added) {
      return added.error().Wrap("usage of namespace " + space->name);
    }
  }
  if (!summing.troubles.empty()) return summing.troubles.Error();
  if (!space->ties.AnyOwned() || beside.owners == nullptr) return sum.Result();
  for (const auto& [pair, count] : state_->SharedIn(*space, *beside.owners)) {
    const auto& [facts, owner] = pair;
    if (!Matches(selector, facts->attributes, known_scopes)) continue;
    const auto usage = ResolvedUsage(*facts, beside.classes);
    if (!usage) return usage.error();
    const auto shared = Common(*usage, owner->usage);
    const auto added = sum.Add(shared, -static_cast<std::int64_t>(count));
    if (!added) return added.error();
  }
  return sum.Result();
}

base::Result<ResourceList> Ledger::UsageOf(std::string_view ns, const Uid& uid, const Facts& facts,
                                           const Beside& beside, const Tie* new_tie) const {
  base::Result<ResourceList> usage = ResolvedUsage(facts, beside.classes);
  const Tie* tie = new_tie != nullptr ? new_tie : FindTie(ns, uid);
  const bool tied = tie != nullptr && tie->owner && beside.owners != nullptr;
  if (!usage || !tied) return usage;
  const auto owner = beside.owners->Find(ns, *tie->owner);
  if (owner == nullptr) return usage;
  const Namespace* space = state_->Find(ns);
  const Tie* of_owner = beside.owners->FindTie(ns, *tie->owner);
  const bool meant =
      space != nullptr ? space->ties.IsMeant(*tie, of_owner) : Ties().IsMeant(*tie, of_owner);
  if (!meant) return usage;
  if (auto taken = usage->Add(Common(*usage, owner->usage), -1); !taken) return taken.error();
  return usage;
}

bool Ledger::RefersToAny(std::string_view ns, const std::set<std::string>& classes) const {
  const Namespace* space = state_->Find(ns);
  if (space == nullptr) return false;
  return std::any_of(space->counts.begin(), space->counts.end(), [&](const auto& entry) {
    const auto& units = state_->pool.Get(entry.first)->classes;
    return std::any_of(units.begin(), units.end(),
                       [&](const ClassUnits& unit) { return classes.contains(unit.name); });
  });
}

}  // namespace quota
