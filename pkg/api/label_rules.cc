#include <algorithm>

#include "pkg/api/names.h"
#include "pkg/api/selector.h"

namespace api {
namespace {

// The rules of apimachinery v0.36.3, pkg/util/validation/validation.go: IsQualifiedName() and
// IsValidLabelValue().
constexpr std::size_t kMaxName = 63;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends.
bool IsName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string CheckLabelKey(std::string_view text) {
  const std::size_t slash = text.find('/');
  const bool prefixed = slash != std::string_view::npos;
  const std::string_view name = prefixed ? text.substr(slash + 1) : text;
  const std::string start = "label key " + json::Quote(text) + ": ";
  if (prefixed && !IsDns1123Subdomain(text.substr(0, slash))) {
    return start + "the part before the slash must be a lower-case DNS subdomain";
  }
  if (name.size() > kMaxName) return start + "the name must be no more than 63 characters";
  if (!IsName(name)) {
    return start +
           "the name must consist of letters, digits, '-', '_' or '.', and must begin and "
           "end with a letter or digit";
  }
  return {};
}

std::string CheckLabelValue(std::string_view text) {
  const std::string start = "label value " + json::Quote(text) + ": ";
  if (text.size() > kMaxName) return start + "must be no more than 63 characters";
  if (!text.empty() && !IsName(text)) {
    return start +
           "must be empty or consist of letters, digits, '-', '_' or '.', and must begin "
           "and end with a letter or digit";
  }
  return {};
}

}  // namespace api
