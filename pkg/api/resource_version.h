#pragma once

// What a client may do with metadata.resourceVersion. It is an opaque text to be sent back, except
// that two decimal versions of the same resource can be ordered (KEP-5504; apimachinery v0.36.3,
// pkg/util/resourceversion).

#include <algorithm>
#include <optional>
#include <string>
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

// True if `a` is known to be older than `b`.
inline bool IsKnownOlder(std::string_view a, std::string_view b) {
  return IsOlderVersion(a, b).value_or(false);
}

// True if `version` is known to be among everything up to `seen` ("": nothing).
inline bool ReachesVersion(std::string_view seen, std::string_view version) {
  return !seen.empty() && IsOlderVersion(seen, version) == std::optional(false);
}

// The newer one of the two becomes `newest` ("": none), if they can be ordered.
inline void RaiseVersion(std::string& newest, std::string_view version) {
  if (newest.empty() || IsKnownOlder(newest, version)) newest = version;
}

}  // namespace api
