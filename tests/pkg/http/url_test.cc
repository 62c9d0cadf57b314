#include <catch2/catch.hpp>

#include "pkg/http/message.h"
#include "pkg/http/server.h"

namespace url_test {

namespace {

TEST_CASE("url: scheme, host, port and prefix are taken apart", "[http]") {
  struct Case {
    std::string text, scheme, host;
    int port;
    std::string path, authority;
  };
  const auto c = GENERATE(
      Case{"https://10.0.0.1:6443", "https", "10.0.0.1", 6443, "", "10.0.0.1:6443"},
      Case{"https://10.0.0.1:6443/", "https", "10.0.0.1", 6443, "", "10.0.0.1:6443"},
      Case{"HTTPS://host/k8s/clusters/c1/", "https", "host", 443, "/k8s/clusters/c1", "host:443"},
      Case{"http://localhost", "http", "localhost", 80, "", "localhost:80"},
      Case{"https://[::1]:9443", "https", "::1", 9443, "", "[::1]:9443"},
      Case{"socks5://proxy", "socks5", "proxy", 1080, "", "proxy:1080"});
  CAPTURE(c.text);

  const auto url = http::ParseUrl(c.text);

  REQUIRE(url.has_value());
  CHECK(url->scheme == c.scheme);
  CHECK(url->host == c.host);
  CHECK(url->port == c.port);
  CHECK(url->path == c.path);
  CHECK(url->Authority() == c.authority);
}

TEST_CASE("url: a Host field leaves out the port of the scheme, as clients usually do", "[http]") {
  const auto host = [](std::string_view url) { return http::ParseUrl(url).value().HostField(); };
  CHECK(host("https://api.example.com/k8s") == "api.example.com");
  CHECK(host("https://api.example.com:443") == "api.example.com");
  CHECK(host("https://api.example.com:80") == "api.example.com:80");
  CHECK(host("http://api.example.com") == "api.example.com");
  CHECK(host("https://[::1]") == "[::1]");
  CHECK(host("https://[::1]:6443") == "[::1]:6443");
}

TEST_CASE("url: the credentials of a proxy are decoded", "[http]") {
  const auto url = http::ParseUrl("http://us%40er:p%3Aw@proxy:3128");
  REQUIRE(url.has_value());
  CHECK(url->username == "us@er");
  CHECK(url->password == "p:w");
  CHECK(url->host == "proxy");
}

TEST_CASE("url: the host begins after the last @, as in Go's net/url", "[http]") {
  const auto url = http::ParseUrl("http://user:p@ss@proxy:3128");
  REQUIRE(url.has_value());
  CHECK(url->username == "user");
  CHECK(url->password == "p@ss");
  CHECK(url->host == "proxy");
}

TEST_CASE("url: an invalid URL is refused, and the error quotes it", "[http]") {
  const std::string text =
      GENERATE("", "10.0.0.1:6443", "ftp://host", "https://", "https://:443", "https://host:0",
               "https://host:65536", "https://host:80a", "https://[::1", "https://::1:443",
               "https://ho st", "https://host/?a=b");
  const auto url = http::ParseUrl(text);
  REQUIRE_FALSE(url.has_value());
  CHECK(url.error().code == base::ErrorCode::kInvalidArgument);
  CHECK(url.error().message.find("\"" + text + "\"") != std::string::npos);
}

TEST_CASE("url: an error repeats no user name and no password, whatever is wrong", "[http]") {
  const std::string text =
      GENERATE("http://bob:S3cr3t#pw@proxy:3128", "http://bob:S3cr3t?@proxy",
               "http://bob:%zz@proxy", "http://bob:S3cr3t@proxy:port", "http://bob:S3/cr3t@proxy:0",
               "http://bob:S3cr3t@b@ho st", "bob:S3cr3t@proxy:3128", "http:/bob:S3cr3t@proxy",
               "ftp://bob:S3cr3t@host", "http://bob:S3://cr3t@ho st", "http://S3cr3t@[::1");
  const auto url = http::ParseUrl(text);
  REQUIRE_FALSE(url.has_value());
  INFO(url.error().message);
  for (const char* secret : {"bob", "S3", "cr3t", "zz", "pw"}) {
    CHECK(url.error().message.find(secret) == std::string::npos);
  }
  CHECK(url.error().message.find("***@") != std::string::npos);
  CHECK(http::WithoutCredentials("http://bob:S3cr3t@proxy/x") == "http://***@proxy/x");
  CHECK(http::WithoutCredentials("https://host:1/x") == "https://host:1/x");
}

TEST_CASE("url: components survive encoding and decoding", "[http]") {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  CHECK(*http::DecodeComponent(http::EncodeComponent(every), false) == every);
  CHECK(http::EncodeComponent("a-b_c.d~e") == "a-b_c.d~e");
  CHECK(http::EncodeComponent("app in (a, b)") == "app%20in%20%28a%2C%20b%29");
}

TEST_CASE("url: a plus is a space only if requested", "[http]") {
  CHECK(*http::DecodeComponent("a+b", true) == "a b");
  CHECK(*http::DecodeComponent("a+b", false) == "a+b");
}

TEST_CASE("url: broken percent encoding is malformed", "[http]") {
  const std::string text = GENERATE("%", "%4", "a%zz", "%4g");
  const auto decoded = http::DecodeComponent(text, false);
  REQUIRE_FALSE(decoded.has_value());
  CHECK(decoded.error().code == base::ErrorCode::kMalformed);
}

TEST_CASE("target: path and query are split, then decoded", "[http]") {
  const auto target =
      http::ParseTarget("/api/v1//namespaces/a%2Fb/pods?watch=1&labelSelector=a%3Db,c+d&x&=y");
  REQUIRE(target.has_value());
  CHECK(target->segments == std::vector<std::string>{"api", "v1", "namespaces", "a/b", "pods"});
  CHECK(target->path == "/api/v1//namespaces/a%2Fb/pods");
  CHECK(target->Get("watch") == "1");
  CHECK(target->Get("labelSelector") == "a=b,c d");
  CHECK(target->Has("x"));
  CHECK_FALSE(target->Has("y"));
  CHECK(target->query.size() == 4);
}

TEST_CASE("target: brackets in a query need no encoding, as in Go's net/url", "[http]") {
  const auto target = http::ParseTarget("/metrics?match[]=up");
  REQUIRE(target.has_value());
  CHECK(target->Get("match[]") == "up");
}

TEST_CASE("target: the root has no segments", "[http]") {
  const auto target = http::ParseTarget("/");
  REQUIRE(target.has_value());
  CHECK(target->segments.empty());
  CHECK(target->query.empty());
}

TEST_CASE("target: an invalid target is malformed", "[http]") {
  const std::string text = GENERATE("", "api", "*", "/a%2", "/a?b=%f", "http://host/a");
  const auto target = http::ParseTarget(text);
  REQUIRE_FALSE(target.has_value());
  CHECK(target.error().code == base::ErrorCode::kMalformed);
}

TEST_CASE("query: pairs are encoded and joined in order", "[http]") {
  CHECK(http::EncodeQuery({}).empty());
  CHECK(http::EncodeQuery({{"limit", "500"}, {"labelSelector", "a=b"}}) ==
        "limit=500&labelSelector=a%3Db");
}

TEST_CASE("bind address: host and port of a flag are parsed", "[http]") {
  struct Case {
    std::string text, address;
    int port;
  };
  const auto c = GENERATE(Case{":8080", "", 8080}, Case{"127.0.0.1:0", "127.0.0.1", 0},
                          Case{"[::1]:9443", "::1", 9443}, Case{"localhost:1", "localhost", 1});
  CAPTURE(c.text);
  const auto bind = http::ParseBindAddress(c.text);
  REQUIRE(bind.has_value());
  CHECK(bind->address == c.address);
  CHECK(bind->port == c.port);
}

TEST_CASE("bind address: an invalid one is refused", "[http]") {
  const std::string text = GENERATE("", "8080", "host", "host:", "host:x", "::1:80", ":65536",
                                    "[[::1]:80", "a[b:80", "a b:80");
  const auto bind = http::ParseBindAddress(text);
  REQUIRE_FALSE(bind.has_value());
  CHECK(bind.error().code == base::ErrorCode::kInvalidArgument);
}

}  // namespace

}  // namespace url_test
