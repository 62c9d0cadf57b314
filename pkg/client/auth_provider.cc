#include "pkg/client/auth_provider.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "pkg/api/time.h"
#include "pkg/base/base64.h"
#include "pkg/json/value.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::chrono::seconds kSpare{10};

// Returns the claims of a JSON Web Token, which is not verified; null if it is none.
json::Value ClaimsOf(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return {};
  std::string claims(token.substr(first + 1, second - first - 1));
  std::ranges::replace(claims, '-', '+');
  std::ranges::replace(claims, '_', '/');
  claims.append((4 - claims.size() % 4) % 4, '=');
  const auto text = base::DecodeBase64(claims);
  auto parsed = text ? json::Parse(*text) : text.error();
  return parsed ? std::move(*parsed) : json::Value();
}

// Returns the time of the claim "exp", seconds since 1970; nullopt if there is none that is valid.
std::optional<base::WallTime> ExpiryOf(std::string_view token) {
  if (token.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  const json::Value claims = ClaimsOf(token);
  const json::Value* expiry = claims.At({"exp"});
  const std::optional<double> seconds = expiry == nullptr ? std::nullopt : expiry->AsDouble();
  constexpr double kYear9999 = 253'402'300'799;
  if (!seconds || !(*seconds >= 0 && *seconds <= kYear9999)) return std::nullopt;
  // A WallTime ends in 2262: what is later never expires.
  constexpr double kYear2260 = 9'151'488'000;
  const auto whole = static_cast<std::int64_t>(std::min(*seconds, kYear2260));
  return base::WallTime(std::chrono::seconds(whole));
}

Error Unusable(std::string_view name, const std::string& why) {
  return {.code = ErrorCode::kInvalidArgument,
          .message = "auth-provider \"" + std::string(name) + "\": " + why};
}

}  // namespace

base::Result<std::string> TokenOfAuthProvider(std::string_view name, const std::string& id_token,
                                              base::WallTime now) {
  if (name == "azure") {
    return Unusable(name,
                    "the azure auth plugin has been removed; use the exec credential plugin of "
                    "https://github.com/Azure/kubelogin instead");
  }
  if (name == "gcp") {
    return Unusable(name,
                    "the gcp auth plugin has been removed; use the exec credential plugin "
                    "gke-gcloud-auth-plugin instead");
  }
  if (name != "oidc") {
    return Unusable(name, "is not known; use an exec credential plugin instead");
  }
  const std::string renew =
      "; run a command of kubectl that asks the server, which renews it, or use an exec credential "
      "plugin, such as kubectl oidc-login";
  if (id_token.empty()) return Unusable(name, "it has no id-token" + renew);
  const std::optional<base::WallTime> expiry = ExpiryOf(id_token);
  if (!expiry) return Unusable(name, "its id-token has no time of expiry" + renew);
  if (now + kSpare < *expiry) return id_token;
  const std::string ends = now < *expiry ? "expires" : "expired";
  return Unusable(name, "its id-token " + ends + " at " + api::FormatTime(*expiry) + renew);
}

}  // namespace client
