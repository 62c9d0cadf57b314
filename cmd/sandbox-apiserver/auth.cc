#include "cmd/sandbox-apiserver/auth.h"

#include <algorithm>

namespace sandbox {
namespace {

constexpr std::string_view kAnonymous = "system:anonymous";

User Authenticated(User user) {
  user.groups.emplace_back("system:authenticated");
  return user;
}

User Impersonated(User user, const http::Headers& headers) {
  const std::string_view name = headers.Get("Impersonate-User");
  if (name.empty()) return user;
  constexpr std::string_view kGroup = "impersonate-group";
  User other{std::string(name), {}};
  for (const auto& [field, value] : headers) {
    const bool group = std::equal(field.begin(), field.end(), kGroup.begin(), kGroup.end(),
                                  [](char a, char b) { return (a | 0x20) == (b | 0x20); });
    if (group) other.groups.push_back(value);
  }
  return Authenticated(std::move(other));
}

json::Value AccessStatus(bool allowed) {
  json::Object status;
  status.Set("allowed", allowed);
  status.Set("reason", allowed ? "the sandbox allows every known user" : "unknown user");
  return status;
}

json::Value TokenStatus(const Authenticator& authenticator, const json::Value& review) {
  const std::optional<User> user = authenticator.UserOfToken(review.StringAt({"spec", "token"}));
  json::Object status;
  if (user) {
    status.Set("authenticated", true);
    status.Set("user", UserInfo(*user));
  } else {
    status.Set("user", json::Object());
    status.Set("error", "the token is not known");
  }
  return status;
}

}  // namespace

std::optional<User> Authenticator::UserOfToken(std::string_view token) const {
  const auto found = options_.tokens.find(std::string(token));
  if (token.empty() || found == options_.tokens.end()) return std::nullopt;
  return Authenticated(found->second);
}

std::optional<User> Authenticator::Authenticate(const http::Headers& headers,
                                                const http::Peer& peer) const {
  const std::string_view authorization = headers.Get("Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.empty()) {
    if (!authorization.starts_with(kBearer)) return std::nullopt;
    std::optional<User> user = UserOfToken(authorization.substr(kBearer.size()));
    if (user) return Impersonated(*std::move(user), headers);
    return std::nullopt;
  }
  if (!peer.client_common_name.empty()) {
    User user{peer.client_common_name, peer.client_organizations};
    return Impersonated(Authenticated(std::move(user)), headers);
  }
  if (!options_.anonymous) return std::nullopt;
  return User{std::string(kAnonymous), {"system:unauthenticated"}};
}

json::Value UserInfo(const User& user) {
  json::Array groups(user.groups.begin(), user.groups.end());
  json::Object info;
  info.Set("username", user.name);
  info.Set("groups", std::move(groups));
  return info;
}

json::Value AnswerReview(const Authenticator& authenticator, const User& user,
                         const std::string& resource, json::Value review) {
  if (resource == "tokenreviews") {
    review.Make({"status"}) = TokenStatus(authenticator, review);
  } else {
    const bool own = resource == "selfsubjectaccessreviews";
    const std::string_view name = own ? user.name : review.StringAt({"spec", "user"});
    review.Make({"status"}) = AccessStatus(!name.empty() && name != kAnonymous);
  }
  return review;
}

}  // namespace sandbox
