#include "tests/e2e/harness/denial.h"

#include <ostream>
#include <string_view>
#include <utility>

namespace e2e {

bool operator==(const std::string& message, const Denial& denial) {
  constexpr std::string_view kBegin = "admission webhook \"";
  constexpr std::string_view kNumbered = "creates-";
  const std::string end =
      denial.quota_api + ".quota-controller-manager.io\" denied the request: " + denial.words;
  if (!message.starts_with(kBegin) || !message.ends_with(end)) return false;
  if (message.size() < kBegin.size() + end.size()) return false;
  const std::string_view number =
      std::string_view(message).substr(kBegin.size(), message.size() - kBegin.size() - end.size());
  return number.empty() || (number.starts_with(kNumbered) && number.ends_with('.') &&
                            number.find('"') == std::string_view::npos);
}

std::ostream& operator<<(std::ostream& out, const Denial& denial) {
  return out << "denied by " << denial.quota_api << ": " << denial.words;
}

Denial Denied(std::string words) { return {.quota_api = "core", .words = std::move(words)}; }
Denial DeniedByKarmada(std::string words) {
  return {.quota_api = "karmada", .words = std::move(words)};
}
Denial DeniedByCloud(std::string words) {
  return {.quota_api = "ironcore", .words = std::move(words)};
}

}  // namespace e2e
