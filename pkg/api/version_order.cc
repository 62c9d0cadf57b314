#include "pkg/api/version_order.h"

#include <compare>
#include <cstddef>

namespace api {
namespace {

struct VersionRank {
  int stage = 0;  // 3 GA, 2 beta, 1 alpha, 0 other
  long major = 0;
  long minor = 0;
  auto operator<=>(const VersionRank&) const = default;
};

// Removes the number at the beginning of the text and returns it; -1 if there is none.
long TakeNumber(std::string_view& text) {
  long number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits++] - '0');
  }
  text.remove_prefix(digits);
  return digits == 0 ? -1 : number;
}

VersionRank RankOf(std::string_view name) {
  if (name.empty() || name.front() != 'v') return {};
  name.remove_prefix(1);
  const long major = TakeNumber(name);
  if (major < 0) return {};
  if (name.empty()) return {3, major, 0};
  const bool beta = name.starts_with("beta");
  const bool alpha = name.starts_with("alpha");
  if (!beta && !alpha) return {};
  name.remove_prefix(beta ? 4 : 5);
  const long minor = TakeNumber(name);
  return minor < 0 || !name.empty() ? VersionRank() : VersionRank{beta ? 2 : 1, major, minor};
}

}  // namespace

bool ComesBefore(std::string_view version, std::string_view other) {
  return RankOf(version) > RankOf(other);
}

}  // namespace api
