#include "pkg/client/proxy.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/pkg/client/print_result.h"

namespace client::proxy_test {
namespace {

http::Url Server(std::string_view text) { return http::ParseUrl(text).value(); }

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST_CASE("proxy: NO_PROXY knows names, suffixes, addresses, networks and ports", "[client]") {
  struct Case {
    std::string server;
    std::string list;
    bool matches;
  };
  const auto [server, list, matches] = GENERATE(values<Case>({
      {"https://a.example.com", "", false},
      {"https://a.example.com", "*", true},
      {"https://a.example.com", "example.com", true},
      {"https://A.Example.com", "EXAMPLE.com", true},
      {"https://example.com", "example.com", true},
      {"https://example.com", ".example.com", false},
      {"https://a.example.com", ".example.com", true},
      {"https://a.example.com", "*.example.com", true},
      {"https://badexample.com", "example.com", false},
      {"https://a.example.com", "other, example.com", true},
      {"https://a.example.com:6443", "example.com:6443", true},
      {"https://a.example.com:6443", "example.com:443", false},
      {"https://10.96.0.1", "10.96.0.0/12", true},
      {"https://10.112.0.1", "10.96.0.0/12", false},
      {"https://10.96.0.1", "0.0.0.0/0", true},
      {"https://10.96.0.1", "10.96.0.1", true},
      {"https://10.96.0.1:6443", "10.96.0.1:6443", true},
      {"https://10.96.0.1", "96.0.1", false},
      {"https://[fd00::1]", "fd00::/8", true},
      {"https://[fe00::1]", "fd00::/8", false},
      {"https://[fd00::1]", "fd00:0::1", true},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", true},
      {"https://[fd00::1]:6443", "[fd00::1]:443", false},
      {"https://a.example.com", "10.0.0.0/8,nonsense/99", false},
  }));
  INFO(server << " in " << list);
  CHECK(MatchesNoProxy(Server(server), list) == matches);
}

TEST_CASE("proxy: the variable follows the server's scheme, upper case first", "[client]") {
  const Environment both = Variables({{"HTTPS_PROXY", "secure:3128"},
                                      {"https_proxy", "http://lower:1"},
                                      {"http_proxy", "http://user:pw@plain:8080"}});
  const auto secure = ProxyFromEnvironment(Server("https://h"), both);
  REQUIRE(secure);
  REQUIRE(*secure);
  CHECK((*secure)->scheme == "http");
  CHECK((*secure)->host == "secure");
  CHECK((*secure)->port == 3128);
  const auto plain = ProxyFromEnvironment(Server("http://h"), both);
  REQUIRE(plain);
  REQUIRE(*plain);
  CHECK((*plain)->host == "plain");
  CHECK((*plain)->username == "user");
}

TEST_CASE("proxy: loopback servers and those of NO_PROXY are reached directly", "[client]") {
  const Environment environment =
      Variables({{"HTTPS_PROXY", "http://p:1"}, {"no_proxy", "10.0.0.0/8"}});
  for (const char* server :
       {"https://localhost:6443", "https://127.0.0.1", "https://[::1]", "https://10.1.2.3"}) {
    INFO(server);
    const auto proxy = ProxyFromEnvironment(Server(server), environment);
    REQUIRE(proxy);
    CHECK_FALSE(*proxy);
  }
  CHECK(*ProxyFromEnvironment(Server("https://11.1.2.3"), environment));
}

TEST_CASE("proxy: the error for an invalid URL names the variable", "[client]") {
  const auto proxy =
      ProxyFromEnvironment(Server("https://h"), Variables({{"https_proxy", "ftp://p:1"}}));
  REQUIRE_FALSE(proxy);
  CHECK(proxy.error().code == base::ErrorCode::kInvalidArgument);
  CHECK_THAT(proxy.error().message, Catch::StartsWith("environment variable https_proxy: "));
}

TEST_CASE("proxy: the error for an invalid URL has no password", "[client]") {
  for (const char* url : {"http://bob:S3cr3t#pw@p:1", "bob:S3cr3t#pw@p:1", "ftp://bob:S3cr3t@p"}) {
    const auto proxy = ProxyFromEnvironment(Server("https://h"), Variables({{"HTTPS_PROXY", url}}));
    REQUIRE_FALSE(proxy);
    CHECK(proxy.error().message.find("S3cr3t") == std::string::npos);
  }
}

}  // namespace
}  // namespace client::proxy_test
