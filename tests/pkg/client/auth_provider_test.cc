#include "pkg/client/auth_provider.h"

#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "tests/pkg/client/print_result.h"

namespace client::auth_provider_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

const base::WallTime kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

// A token whose second part is the base64url form of these claims, without padding.
std::string TokenWith(const std::string& claims) {
  std::string part = base::EncodeBase64(claims);
  std::replace(part.begin(), part.end(), '+', '-');
  std::replace(part.begin(), part.end(), '/', '_');
  part.erase(part.find_last_not_of('=') + 1);
  return "e30." + part + ".sig-nature_";
}

TEST_CASE("auth-provider: oidc's id-token is used while it is valid", "[client]") {
  const std::string claims = GENERATE(R"({"exp":1800000011})", R"({"exp":1800000011.5,"a":"?>~ÿ"})",
                                      R"({"exp":99999999999})", R"({"exp":1.9e9})");
  const std::string token = TokenWith(claims);
  CHECK(TokenOfAuthProvider("oidc", token, kNow).value() == token);
}

TEST_CASE("auth-provider: another id-token is an error that says what to do", "[client]") {
  using Case = std::pair<std::string, std::string>;
  const Case test = GENERATE(
      Case{"", "it has no id-token; "},
      Case{TokenWith(R"({"exp":1799999999})"), "its id-token expired at 2027-01-15T07:59:59Z; "},
      Case{TokenWith(R"({"exp":1800000010})"), "its id-token expires at 2027-01-15T08:00:10Z; "},
      Case{TokenWith("{}"), "has no time of expiry; "}, Case{"secret", "has no time of expiry; "},
      Case{TokenWith(R"({"exp":"1800000011"})"), "has no time of expiry; "},
      Case{TokenWith(R"({"exp":1e300})"), "has no time of expiry; "},
      Case{TokenWith(R"({"exp":-1})"), "has no time of expiry; "},
      Case{TokenWith("secret"), "has no time of expiry; "}, Case{"a.!.c", "has no time"},
      Case{TokenWith(R"({"exp":1900000000})") + "\r\nX: y", "has no time of expiry; "});
  const auto token = TokenOfAuthProvider("oidc", test.first, kNow);
  REQUIRE_FALSE(token);
  CHECK(token.error().code == base::ErrorCode::kInvalidArgument);
  CHECK_THAT(token.error().message,
             Contains("auth-provider \"oidc\": " + test.second) || Contains(test.second));
  CHECK_THAT(token.error().message, Contains("run a command of kubectl") &&
                                        Contains("kubectl oidc-login") && !Contains("secret"));
}

}  // namespace
}  // namespace client::auth_provider_test
