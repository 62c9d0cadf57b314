#include "cmd/quota-controller-manager/flag_values.h"

#include <array>
#include <sstream>
#include <utility>

#include "pkg/base/text.h"

namespace manager {
namespace {

constexpr std::array<std::string_view, 4> kQuotaApis{"core", "cluster", "karmada", "ironcore"};

}  // namespace

base::Result<std::vector<std::string>> ParseQuotaApis(const std::string& text) {
  std::vector<std::string> apis;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    if (!base::IsOneOf(name, kQuotaApis)) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = std::string("unknown quota API \"")
                                        .append(name)
                                        .append("\" (known: ")
                                        .append(base::Join(kQuotaApis, ", "))
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
