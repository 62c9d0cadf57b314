#pragma once

// An object's uid in 16 bytes: the value of a UUID, or a hash of any other text. Values; any
// thread.

#include <compare>
#include <cstdint>
#include <string_view>

#include "pkg/quota/hash.h"

namespace quota {

struct Uid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  static Uid FromText(std::string_view text);
  auto operator<=>(const Uid&) const = default;
};

struct UidHash {
  std::size_t operator()(const Uid& uid) const noexcept {
    return static_cast<std::size_t>(Combine(uid.high, uid.low));
  }
};

}  // namespace quota
