#include "pkg/quota/facts.h"

#include "pkg/quota/hash.h"

namespace quota {

// Equal facts hash alike, so the notation of a quantity, which equality ignores, does not count.
std::size_t Facts::Hash() const {
  std::uint64_t hash = usage.size();
  for (const auto& [name, quantity] : usage) {
    hash = HashText(name, hash);
    const quantity::Int128 nanos = quantity.nanos();
    hash = Combine(hash, static_cast<std::uint64_t>(nanos));
    hash = Combine(hash, static_cast<std::uint64_t>(nanos >> 64));
  }
  for (const auto& [scope, value] : attributes) {
    hash = HashText(scope, hash);
    hash = HashText(value, hash);
  }
  for (const ClassUnits& units : classes) {
    hash = HashText(units.name, hash);
    hash = Combine(hash, static_cast<std::uint64_t>(units.units));
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace quota
