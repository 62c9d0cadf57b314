#pragma once

// An object's uid in 8 bytes: a hash of its text. An API server makes uids at random (RFC 4122,
// version 4), so in a namespace of 100 000 objects two have the same value with a probability of
// 3e-10. A uid in a reference is what a client wrote, and can be any value. Values; any thread.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quota {

struct Uid {
  std::uint64_t value = 0;
  static Uid FromText(std::string_view text);  // of metadata.uid, or of a reference
  // The value in 11 characters (base64url of RFC 4648, without padding), and back. nullopt: the
  // text is not exactly what ToShortText() returns for a value.
  static std::optional<Uid> FromShortText(std::string_view text);
  [[nodiscard]] std::string ToShortText() const;
  auto operator<=>(const Uid&) const = default;
};

// Only for uids that the API server made, of objects: a reference's could all have one hash.
struct UidHash {
  std::size_t operator()(const Uid& uid) const noexcept {
    return static_cast<std::size_t>(uid.value);
  }
};

}  // namespace quota
