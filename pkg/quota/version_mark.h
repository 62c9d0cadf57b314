#pragma once

// What a ledger keeps of an object's resourceVersion: 32 bits of its hash. It tells from a list of
// metadata whether the object has changed. Two versions of an object have the same mark with a
// probability of one in four billion. A change that is missed so is found at the next version.
// Values.

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
