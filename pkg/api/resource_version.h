#pragma once

// What a client may do with metadata.resourceVersion. It is an opaque text to be sent back, except
// that two decimal versions of the same resource can be ordered (KEP-5504; apimachinery v0.36.3,
// pkg/util/resourceversion).

#include <algorithm>
#include <optional>
#include <string_view>

namespace api {

inline bool IsDecimalVersion(std::string_view version) {
  return !version.empty() && version.front() != '0' &&
         std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// True if `a` is older than `b`; nullopt if the server's versions cannot be ordered.
inline std::optional<bool> IsOlderVersion(std::string_view a, std::string_view b) {
  if (a == b) return false;
  if (!IsDecimalVersion(a) || !IsDecimalVersion(b)) return std::nullopt;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace api
