#include "cmd/quota-controller-manager/flag_values.h"

#include <array>
#include <sstream>
#include <utility>

#include "pkg/base/text.h"

namespace manager {
namespace {

constexpr std::array kQuotaApis{"core", "cluster", "karmada", "ironcore"};

}  // namespace

base::Result<std::vector<std::string>> ParseQuotaApis(const std::string& text,
                                                      const std::vector<std::string>& further) {
  std::vector<std::string> known(kQuotaApis.begin(), kQuotaApis.end());
  known.insert(known.end(), further.begin(), further.end());
  std::vector<std::string> apis;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    if (!base::IsOneOf(name, known)) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = std::string("unknown quota API \"")
                                        .append(name)
                                        .append("\" (known: ")
                                        .append(base::Join(known, ", "))
                                        .append(")")};
    }
    if (!base::IsOneOf(name, apis)) apis.push_back(name);
  }
  return apis;
}

base::Result<std::optional<http::BindAddress>> ParseAddress(const std::string& text) {
  if (text.empty()) return std::optional<http::BindAddress>();
  auto address = http::ParseBindAddress(text);
  if (!address) return address.error();
  return std::optional<http::BindAddress>(std::move(*address));
}

}  // namespace manager
