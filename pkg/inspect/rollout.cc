#include "pkg/inspect/rollout.h"

#include <algorithm>

namespace inspect {

using quantity::Quantity;

Quantity LargestRise(const Quantity& each, std::int64_t fresh, std::int64_t spare,
                     std::vector<std::pair<Quantity, std::int64_t>> old) {
  std::ranges::sort(old);
  Quantity most = each.Mul(0);
  Quantity freed;
  // Usage changes at one rate between the moments at which the next of `old` starts to go, so it is
  // largest at one of them.
  std::int64_t at = spare;  // new pods then
  const auto look = [&](std::int64_t created, const Quantity& gone) {
    most = std::max(most, each.Mul(created).Sub(gone));
  };
  for (const auto& [amount, count] : old) {
    if (at >= fresh) break;
    if (at >= 0) look(at, freed);
    const std::int64_t going = std::min(count, fresh - at);
    freed = freed.Add(amount.Mul(going));
    at += going;
  }
  if (at >= 0 && at < fresh) look(at, freed);
  look(fresh, freed);
  return most;
}

}  // namespace inspect
