#include "pkg/inspect/rollout.h"

#include <algorithm>

namespace inspect {

using quantity::Quantity;

Quantity LargestRise(const Quantity& each, std::int64_t fresh, std::int64_t spare,
                     std::vector<std::pair<Quantity, std::int64_t>> old) {
  std::ranges::sort(old);
  std::optional<Quantity> most;
  const auto look = [&](std::int64_t created, const Quantity& gone) {
    if (created < 1) return;
    const Quantity rise = each.Mul(created).Sub(gone);
    if (!most || rise > *most) most = rise;
  };
  // Usage changes at one rate between the moments at which the next of `old` starts to go, so it is
  // largest at one of them, or directly after the first or the last creation.
  Quantity freed;
  std::int64_t at = spare;  // new pods then
  look(std::min(spare, fresh), freed);
  for (const auto& [amount, count] : old) {
    if (at >= fresh) break;
    const std::int64_t going = std::min(count, fresh - at);
    if (at < 1 && at + going >= 1) look(1, freed.Add(amount.Mul(1 - at)));
    freed = freed.Add(amount.Mul(going));
    at += going;
    look(at, freed);
  }
  look(1, freed);
  look(fresh, freed);
  return *most;
}

}  // namespace inspect
