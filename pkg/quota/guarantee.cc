#include "pkg/quota/guarantee.h"

#include <algorithm>
#include <utility>

namespace quota {
namespace {

ResourceList GuaranteedTo(const Quota& quota) {
  return quota.cluster ? quota::Guaranteed(*quota.cluster, quota.status.hard) : ResourceList();
}

// True if somebody's text stands in place of the count, or of what it would be a count of.
bool HadCount(const Quota& quota, std::string_view name) {
  return std::ranges::binary_search(quota.garbage.used, name) ||
         std::ranges::binary_search(quota.unreadable.counted, name);
}

// Returns how much of the growth was promised to this quota before the request.
Quantity TakenOf(const Standing& standing, std::string_view name, const Quantity& growth,
                 const Quantity& had) {
  const Quantity promised = standing.tree.promised.Get(name);
  if (had.IsZero()) return std::min(promised, growth);
  // `used` already includes `had`, so compute the promise as it was without that.
  const Quantity guaranteed = GuaranteedTo(*standing.quota).Get(name);
  const Quantity before = Above(guaranteed.Add(had), standing.used.Get(name));
  return std::min(before, growth.Add(had));
}

// True if `above` counts every object that `below` counts: it has no further requirements.
bool CountsAllOf(const ScopeSelector& above, const ScopeSelector& below) {
  return std::ranges::all_of(above, [&](const ScopeRequirement& requirement) {
    return std::ranges::find(below, requirement) != below.end();
  });
}

// Returns what `parent` leaves to `child`. That is the larger of two amounts: what is free and not
// promised to others, and what is promised to `child`, as far as it is free.
Quantity LeftFor(const Standing& parent, const Standing& child, std::string_view name) {
  const Quantity free = Rest(parent.quota->status.hard.Get(name), parent.used.Get(name));
  const Quantity own = child.tree.promised.Get(name);
  const Quantity others = Rest(parent.tree.promised_below.Get(name), own);
  return std::max(Rest(free, others), std::min(free, own));
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
    if (now == nullptr && !HadCount(quota, name)) continue;
    const Quantity left = now != nullptr ? Rest(amount, *now) : amount;
    if (!left.IsZero()) promised.Set(name, left);
  }
  return promised;
}

void Promise(std::vector<Standing>& standings, std::size_t child, ResourceList promised) {
  TreePlace& place = standings[child].tree;
  if (place.parent) {
    ResourceList& below = standings[*place.parent].tree.promised_below;
    for (const auto& [name, amount] : place.promised)
      below.Set(name, Rest(below.Get(name), amount));
    below.Add(promised);
  }
  place.promised = std::move(promised);
}

Quantity HeldBack(const std::vector<Standing>& standings, const Takings& takings, const Need& need,
                  std::string_view name) {
  Quantity held = standings[need.standing].tree.promised_below.Get(name);
  Quantity taken;  // part of the need that was promised to the children
  const auto [first, last] = takings.equal_range(need.standing);
  for (auto taking = first; taking != last; ++taking) {
    const auto& [index, growths, had] = taking->second;
    const Standing& child = standings[index];
    const Quantity growth = growths.Get(name);
    held = Rest(held, std::min(child.tree.promised.Get(name), growth));
    taken = taken.Add(TakenOf(child, name, growth, had.Get(name)));
  }
  return need.amount.Get(name) > taken ? held : Quantity();
}

ResourceList Available(const std::vector<Standing>& standings, std::size_t quota) {
  const Standing& here = standings[quota];
  ResourceList available;
  for (const auto& [name, limit] : here.quota->status.hard) {
    const Quantity* used = here.used.Find(name);
    if (used == nullptr) continue;
    Quantity left = Rest(limit, *used);
    std::size_t child = quota;
    while (const auto parent = standings[child].tree.parent) {
      if (Limits(*standings[*parent].quota, *here.quota, name)) {
        left = std::min(left, LeftFor(standings[*parent], standings[child], name));
      }
      child = *parent;
    }
    available.Set(name, left);
  }
  return available;
}

ResourceList Missing(const std::vector<Standing>& standings, std::size_t quota) {
  const Standing& here = standings[quota];
  ResourceList missing;
  if (!here.tree.parent) return missing;
  const Standing& above = standings[*here.tree.parent];
  for (const auto& [name, promised] : here.tree.promised) {
    if (!Limits(*above.quota, *here.quota, name)) continue;
    const Quantity free = Rest(above.quota->status.hard.Get(name), above.used.Get(name));
    const Quantity lacks = std::min(promised, Rest(above.tree.promised_below.Get(name), free));
    if (!lacks.IsZero()) missing.Set(name, lacks);
  }
  return missing;
}

}  // namespace quota
