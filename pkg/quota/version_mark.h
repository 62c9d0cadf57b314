#pragma once

// What a ledger keeps of an object's resourceVersion: 32 bits of its hash. It tells from a list of
// metadata whether the object has changed. Two versions of an object have the same mark with a
// probability of one in four billion. A change that is missed for this reason is found with the
// object's next version. Values; any thread.

#include <cstdint>
#include <string_view>

#include "pkg/quota/hash.h"

namespace quota {

using VersionMark = std::uint32_t;

// The mark of an object without a version. Ledger::Sight() treats it as different from every mark,
// itself included.
inline constexpr VersionMark kNoVersion = 0;

constexpr VersionMark VersionMarkOf(std::string_view resource_version) {
  if (resource_version.empty()) return kNoVersion;
  const auto mark = static_cast<VersionMark>(HashText(resource_version));
  return mark == kNoVersion ? 1 : mark;
}

}  // namespace quota
