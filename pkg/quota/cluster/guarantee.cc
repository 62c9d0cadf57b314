#include "pkg/quota/cluster/guarantee.h"

#include <algorithm>

#include "pkg/quota/saturating.h"

namespace quota {
namespace {

ResourceList GuaranteedTo(const Quota& quota) {
  return quota.cluster ? quota::Guaranteed(*quota.cluster, quota.status.hard) : ResourceList();
}

Quantity GrowthOf(const std::vector<Need>& needs, std::size_t standing, std::string_view name) {
  const auto need = std::ranges::find(needs, standing, &Need::standing);
  return need == needs.end() ? Quantity() : need->amount.Get(name);
}

Quantity HadBy(const Had& had, std::size_t standing, std::string_view name) {
  const auto found = had.find(standing);
  return found == had.end() ? Quantity() : found->second.Get(name);
}

// What a request takes of what was promised to a quota before.
Quantity TakenOf(const Standing& standing, std::string_view name, const Quantity& growth,
                 const Quantity& had) {
  const Quantity promised = standing.tree.promised.Get(name);
  if (had.IsZero()) return std::min(promised, growth);
  const Quantity guaranteed = GuaranteedTo(*standing.quota).Get(name);
  const Quantity before = Above(Sum(guaranteed, had), standing.used.Get(name));
  return std::min(before, Sum(growth, had));
}

// What the children of a quota are promised, but for one.
Quantity PromisedToOthers(const std::vector<Standing>& standings, std::size_t parent,
                          std::size_t child, std::string_view name) {
  Quantity promised = standings[parent].tree.held_back.Get(name);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (i == child || standings[i].tree.parent != parent) continue;
    promised = Sum(promised, standings[i].tree.promised.Get(name));
  }
  return promised;
}

bool CountsAllOf(const ScopeSelector& above, const ScopeSelector& below) {
  return std::ranges::all_of(above, [&](const ScopeRequirement& requirement) {
    return std::ranges::find(below, requirement) != below.end();
  });
}

// What a quota leaves to one of its children: all that is free but what is promised to others, and
// what is promised to it as far as that is free.
Quantity LeftFor(const std::vector<Standing>& standings, std::size_t parent, std::size_t child,
                 std::string_view name) {
  const Standing& above = standings[parent];
  const Quantity free = Above(above.quota->status.hard.Get(name), above.used.Get(name));
  const Quantity others = PromisedToOthers(standings, parent, child, name);
  return std::max(Above(free, others), std::min(free, standings[child].tree.promised.Get(name)));
}

bool Limits(const Quota& above, const Quota& quota, std::string_view name) {
  return above.cluster && above.cluster->enforcement == ClusterSpec::Enforcement::kDeny &&
         above.status.hard.Find(name) != nullptr && CountsAllOf(above.selector, quota.selector);
}

}  // namespace

ResourceList Guaranteed(const ClusterSpec& spec, const ResourceList& hard) {
  return Excess(Smaller(spec.guaranteed, hard), {});
}

ResourceList Promised(const Quota& quota, const ResourceList& used) {
  ResourceList promised;
  for (const auto& [name, amount] : GuaranteedTo(quota)) {
    const Quantity* now = used.Find(name);
    const Quantity left = now != nullptr ? Above(amount, *now) : Quantity();
    if (!left.IsZero()) promised.Set(name, left);
  }
  return promised;
}

Quantity HeldBack(const std::vector<Standing>& standings, const std::vector<Need>& needs,
                  const Had& had, const Need& need, std::string_view name) {
  const Standing& parent = standings[need.standing];
  if (!parent.quota->cluster) return {};
  Quantity held = parent.tree.held_back.Get(name);
  Quantity taken;  // of what is promised to children on the way
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].tree.parent != need.standing) continue;
    const Quantity growth = GrowthOf(needs, i, name);
    held = Sum(held, Above(standings[i].tree.promised.Get(name), growth));
    taken = Sum(taken, TakenOf(standings[i], name, growth, HadBy(had, i, name)));
  }
  return need.amount.Get(name) > taken ? held : Quantity();
}

ResourceList Available(const std::vector<Standing>& standings, std::size_t quota) {
  const Standing& here = standings[quota];
  ResourceList available;
  for (const auto& [name, limit] : here.quota->status.hard) {
    const Quantity* used = here.used.Find(name);
    if (used == nullptr) continue;
    Quantity left = Above(limit, *used);
    std::size_t child = quota;
    while (const auto parent = standings[child].tree.parent) {
      if (Limits(*standings[*parent].quota, *here.quota, name)) {
        left = std::min(left, LeftFor(standings, *parent, child, name));
      }
      child = *parent;
    }
    available.Set(name, left);
  }
  return available;
}

}  // namespace quota
