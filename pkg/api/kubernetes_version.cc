#include "pkg/api/kubernetes_version.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace api {
namespace {

// The number at the beginning of the text.
base::Result<int> NumberIn(const json::Value& answer, const char* field) {
  const std::string_view text = answer.StringAt({field});
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && number >= 0) return number;
  return base::Error{.code = base::ErrorCode::kMalformed,
                     .message = std::string(field) + ": is no number: " + std::string(text)};
}

}  // namespace

std::string KubernetesVersion::ToString() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

base::Result<KubernetesVersion> ParseKubernetesVersion(const json::Value& answer) {
  const auto major = NumberIn(answer, "major");
  if (!major) return major.error();
  const auto minor = NumberIn(answer, "minor");
  if (!minor) return minor.error();
  return KubernetesVersion{*major, *minor};
}

}  // namespace api
