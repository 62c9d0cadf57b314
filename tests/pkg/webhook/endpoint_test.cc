#include "pkg/webhook/endpoint.h"

#include <catch2/catch.hpp>
#include <utility>

namespace endpoint_test {

namespace {

using webhook::ParseAdmissionUrl;
using webhook::ParseServiceReference;
using Wrong = std::pair<std::string, std::string>;  // the text, and a part of the error

template <typename T>
void CheckRefused(const base::Result<T>& result, const Wrong& wrong) {
  INFO(wrong.first);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == base::ErrorCode::kInvalidArgument);
  INFO(result.error().message);
  CHECK(result.error().message.find(wrong.second) != std::string::npos);
}

TEST_CASE("endpoint: a service is a namespace, a name and a port", "[admission]") {
  const auto service = ParseServiceReference("quota-system/webhook:8443").value();
  CHECK(service.ns == "quota-system");
  CHECK(service.name == "webhook");
  CHECK(service.port == 8443);
  CHECK(service.ToString() == "quota-system/webhook:8443");
  CHECK(ParseServiceReference("1ns/a").value().port == 443);
}

TEST_CASE("endpoint: the first name of a service is the one that API servers verify",
          "[admission]") {
  const auto service = ParseServiceReference("ns/web:443").value();
  CHECK(service.ServerName() == "web.ns.svc");
  CHECK(service.Hosts() ==
        std::vector<std::string>{"web.ns.svc", "web.ns.svc.cluster.local", "web.ns"});
}

TEST_CASE("endpoint: the error about a service says what is wrong", "[admission]") {
  const std::string long_label(64, 'a');
  const std::string long_name = "ns/" + long_label;
  const auto wrong = GENERATE_COPY(
      Wrong{"", "expected namespace/name:port"}, Wrong{"web:443", "expected namespace/name:port"},
      Wrong{"/web:443", "namespace is not"}, Wrong{"NS/web:443", "namespace is not"},
      Wrong{"a.b/web:443", "namespace is not"}, Wrong{"-a/web:443", "namespace is not"},
      Wrong{"ns/:443", "name is not"}, Wrong{"ns/", "name is not"}, Wrong{"ns/1web", "name is not"},
      Wrong{"ns/web-:443", "name is not"}, Wrong{"ns/a/b:443", "name is not"},
      Wrong{long_name, "name is not"}, Wrong{"ns/web:", "port is not"},
      Wrong{"ns/web:0", "port is not"}, Wrong{"ns/web:65536", "port is not"},
      Wrong{"ns/web:-1", "port is not"}, Wrong{"ns/web:443x", "port is not"},
      Wrong{"ns/web:https", "port is not"}, Wrong{"ns/web:4:43", "port is not"});
  CheckRefused(ParseServiceReference(wrong.first), wrong);
}

TEST_CASE("endpoint: a URL keeps its host, port and path", "[admission]") {
  const auto url = ParseAdmissionUrl("https://127.0.0.1:9443").value();
  CHECK(url.host == "127.0.0.1");
  CHECK(url.port == 9443);
  CHECK(url.path.empty());
  CHECK(url.ToString() == "https://127.0.0.1:9443");
  CHECK(url.ToString("/validate") == "https://127.0.0.1:9443/validate");

  const auto v6 = ParseAdmissionUrl("https://[::1]:9443/a/b/").value();
  CHECK(v6.host == "::1");
  CHECK(v6.ToString("/c") == "https://[::1]:9443/a/b/c");
  CHECK(ParseAdmissionUrl("HTTPS://quota.example.com").value().port == 443);
}

TEST_CASE("endpoint: the error about a URL says what is wrong", "[admission]") {
  const auto wrong = GENERATE(
      Wrong{"", "no scheme"}, Wrong{"127.0.0.1:9443", "no scheme"},
      Wrong{"http://127.0.0.1:9443", "the scheme is not https"}, Wrong{"ftp://a", "scheme is not"},
      Wrong{"https://a?b=c", "query or fragment"}, Wrong{"https://a/b#c", "query or fragment"},
      Wrong{"https://me@a", "user name or password"}, Wrong{"https://", "invalid host"},
      Wrong{"https://:9443", "invalid host"}, Wrong{"https://a:0", "port is not"},
      Wrong{"https://a:70000", "port is not"}, Wrong{"https://a_b", "neither a DNS name"},
      Wrong{"https://a..b", "neither a DNS name"}, Wrong{"https://Quota", "neither a DNS name"},
      Wrong{"https://1.2.3", "not an IPv4 address"},
      Wrong{"https://1.2.3.256", "not an IPv4 address"}, Wrong{"https://1.2.3.4.", "not an IPv4"},
      Wrong{"https://[::g]", "not an IPv6 address"},
      Wrong{"https://[fe80::1%eth0]", "not an IPv6 address"},
      Wrong{"https://a/b c", "must be percent-encoded"});
  CheckRefused(ParseAdmissionUrl(wrong.first), wrong);
}

TEST_CASE("endpoint: the error about a URL does not repeat its password", "[admission]") {
  const auto refused = ParseAdmissionUrl("https://me:secret@127.0.0.1:9443");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("secret") == std::string::npos);
}

}  // namespace

}  // namespace endpoint_test
