#pragma once

// What a ledger keeps of an object's resourceVersion, to tell from a list of metadata whether the
// object has changed: 32 bits of its hash. Another version of the same object has the same mark
// once in four billion times. If no event showed such a change, the next one reveals it. Values.

#include <cstdint>
#include <string_view>

#include "pkg/quota/hash.h"

namespace quota {

using VersionMark = std::uint32_t;

// The mark of no version: differs from every other, including itself.
inline constexpr VersionMark kNoVersion = 0;

constexpr VersionMark VersionMarkOf(std::string_view resource_version) {
  if (resource_version.empty()) return kNoVersion;
  const auto mark = static_cast<VersionMark>(HashText(resource_version));
  return mark == kNoVersion ? 1 : mark;
}

}  // namespace quota
