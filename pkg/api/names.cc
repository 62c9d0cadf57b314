#include "pkg/api/names.h"

#include <algorithm>

namespace api {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;

bool IsLabelOfAnyLength(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace

bool IsDns1123Label(std::string_view text) {
  return text.size() <= kMaxLabel && IsLabelOfAnyLength(text);
}

bool IsDns1123Subdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsLabelOfAnyLength(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace api
