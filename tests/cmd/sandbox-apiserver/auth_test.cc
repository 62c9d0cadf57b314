#include "cmd/sandbox-apiserver/auth.h"

#include <catch2/catch.hpp>

namespace sandbox::auth_test {
namespace {

Authenticator Make(bool anonymous) {
  return Authenticator(
      {.tokens = {{"t", User{"admin", {"system:masters"}}}}, .anonymous = anonymous});
}

http::Headers Bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }

}  // namespace

TEST_CASE("auth: a token identifies its user", "[sandbox]") {
  const Authenticator strict = Make(false);
  CHECK(strict.Authenticate(Bearer("t"), {})->name == "admin");
  CHECK(strict.Authenticate(Bearer("t"), {})->groups ==
        std::vector<std::string>{"system:masters", "system:authenticated"});
  CHECK_FALSE(strict.Authenticate(Bearer("x"), {}));
  CHECK_FALSE(strict.Authenticate(Bearer(""), {}));
  CHECK_FALSE(strict.Authenticate({{"Authorization", "Basic dDp0"}}, {}));
  CHECK_FALSE(strict.Authenticate({}, {}));
}

TEST_CASE("auth: anonymous requests pass if allowed, but never with a wrong token", "[sandbox]") {
  const Authenticator open = Make(true);
  CHECK(open.Authenticate({}, {})->name == "system:anonymous");
  CHECK_FALSE(open.Authenticate(Bearer("x"), {}));
}

TEST_CASE("auth: a client certificate names user and groups", "[sandbox]") {
  const auto user = Make(false).Authenticate({}, {"127.0.0.1:1", "jane", {"devs"}});
  REQUIRE(user);
  CHECK(user->name == "jane");
  CHECK(user->groups == std::vector<std::string>{"devs", "system:authenticated"});
}

TEST_CASE("auth: impersonation headers replace the user", "[sandbox]") {
  http::Headers headers = Bearer("t");
  headers.Add("Impersonate-User", "bob");
  headers.Add("Impersonate-Group", "g1");
  headers.Add("impersonate-group", "g2");
  const auto user = Make(false).Authenticate(headers, {});
  CHECK(user->name == "bob");
  CHECK(user->groups == std::vector<std::string>{"g1", "g2", "system:authenticated"});
}

}  // namespace sandbox::auth_test
