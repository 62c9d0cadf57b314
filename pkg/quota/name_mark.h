#pragma once

// What a ledger keeps of an object's name: 32 bits of its hash. Two names have the same mark with a
// probability of one in four billion, so "held under this name" must be checked. Values; any
// thread.

#include <cstdint>
#include <string_view>

#include "pkg/quota/hash.h"

namespace quota {

using NameMark = std::uint32_t;

// The mark of an object whose name is not known. It is not found by any name.
inline constexpr NameMark kNoName = 0;

constexpr NameMark NameMarkOf(std::string_view name) {
  if (name.empty()) return kNoName;
  const auto mark = static_cast<NameMark>(HashText(name));
  return mark == kNoName ? 1 : mark;
}

}  // namespace quota
