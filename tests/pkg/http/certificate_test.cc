#include "pkg/http/certificate.h"

#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "tests/pkg/http/loopback.h"

namespace certificate_test {

namespace {

using base::ErrorCode;
using http::CertificatePair;
using http::CertificateSpec;
using http::test::Authority;
using http::test::kLong;
using namespace std::chrono_literals;

// A day on which this test never runs: only the given date may count.
const base::WallTime kDay(std::chrono::hours(24 * 365 * 90));

struct DatedAuthority {
  DatedAuthority() {
    CertificateSpec spec{.common_name = "dated CA", .now = kDay, .is_ca = true};
    ca = http::MakeCertificate(spec).value();
  }
  [[nodiscard]] CertificatePair Issue(std::vector<std::string> hosts,
                                      std::chrono::seconds life) const {
    return http::MakeCertificate({.common_name = "leaf",
                                  .hosts = std::move(hosts),
                                  .now = kDay,
                                  .valid_until = life,
                                  .issuer = &ca})
        .value();
  }
  CertificatePair ca;
};

TEST_CASE("certificates: a created certificate has the requested properties", "[http][tls]") {
  const DatedAuthority authority;
  const CertificatePair leaf = authority.Issue({"a.b.svc", "127.0.0.1", "::1"}, 24h);
  const auto read = http::ReadCertificates(leaf.cert_pem + authority.ca.cert_pem, "x").value();
  REQUIRE(read.size() == 2);
  CHECK(read[0].hosts == std::vector<std::string>{"a.b.svc", "127.0.0.1", "::1"});
  CHECK(read[0].not_before == kDay - 1h);
  CHECK(read[0].not_after == kDay + 24h);
  CHECK_FALSE(read[0].is_ca);
  CHECK(read[0].pem == leaf.cert_pem);
  CHECK(read[1].is_ca);
  CHECK(read[0].ValidAt(kDay));
  CHECK_FALSE(read[0].ValidAt(kDay + 24h));
  CHECK_FALSE(read[0].ValidAt(kDay - 1h - 1s));
}

TEST_CASE("certificates: CA, host and date of a server certificate are all checked",
          "[http][tls]") {
  const DatedAuthority authority;
  const DatedAuthority stranger;
  const CertificatePair leaf = authority.Issue({"a.b.svc", "10.0.0.1"}, 24h);
  const std::string& roots = authority.ca.cert_pem;
  CHECK(http::CheckServer(leaf.cert_pem, roots, {.host = "a.b.svc", .at = kDay}).has_value());
  CHECK(http::CheckServer(leaf.cert_pem, roots, {.host = "10.0.0.1", .at = kDay}).has_value());
  CHECK(http::CheckServer(leaf.cert_pem, stranger.ca.cert_pem + roots, {}).has_value());
  CHECK(http::CheckServer(leaf.cert_pem, leaf.cert_pem, {}).has_value());

  const auto other = http::CheckServer(leaf.cert_pem, roots, {.host = "c.b.svc", .at = kDay});
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == ErrorCode::kTls);
  CHECK(other.error().message ==
        "the certificate is for DNS:a.b.svc, IP:10.0.0.1, not for c.b.svc");
  const auto late = http::CheckServer(leaf.cert_pem, roots, {.at = kDay + 25h});
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().message == "certificate has expired");
  // Without a date, dates are not checked.
  CHECK(http::CheckServer(leaf.cert_pem, roots, {}).has_value());
  const auto strange = http::CheckServer(leaf.cert_pem, stranger.ca.cert_pem, {.at = kDay});
  REQUIRE_FALSE(strange.has_value());
  CHECK(strange.error().code == ErrorCode::kTls);
}

TEST_CASE("certificates: our CA signs no further CA, and a server certificate is only for servers",
          "[http][tls]") {
  const Authority authority;
  const CertificatePair below = authority.Issue({.common_name = "below", .is_ca = true});
  const CertificatePair leaf =
      http::MakeCertificate({.common_name = "leaf", .hosts = {"a"}, .issuer = &below}).value();
  CHECK_FALSE(
      http::CheckServer(leaf.cert_pem + below.cert_pem, authority.ca.cert_pem, {}).has_value());

  const CertificatePair server = authority.Issue({.common_name = "leaf", .hosts = {"a"}});
  http::test::Loopback loopback;
  loopback.options.tls = authority.Serve();
  loopback.options.tls->client_ca_pem = authority.ca.cert_pem;
  loopback.options.tls->require_client_cert = true;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> base::Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.tls = {
        .ca_pem = authority.ca.cert_pem, .cert_pem = server.cert_pem, .key_pem = server.key_pem};
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto answer = co_await client->Do(http::Request(), kLong);
    CHECK_FALSE(answer.has_value());
  });
}

TEST_CASE("certificates: a key must match the certificate, and is never in an error",
          "[http][tls]") {
  const Authority authority;
  const Authority other;
  CHECK(http::CheckKey(authority.ca.cert_pem, authority.ca.key_pem).has_value());
  const auto mixed = http::CheckKey(authority.ca.cert_pem, other.ca.key_pem);
  REQUIRE_FALSE(mixed.has_value());
  CHECK(mixed.error().message == "the private key does not match the certificate");
  const std::string half = authority.ca.key_pem.substr(0, authority.ca.key_pem.size() / 2);
  const auto cut = http::CheckKey(authority.ca.cert_pem, half);
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().code == ErrorCode::kInvalidArgument);
  CHECK(cut.error().message.find(half.substr(40, 16)) == std::string::npos);
  CHECK(cut.error().message.starts_with("private key: "));
}

// Replaces the last date of the certificate by one of the same length; its signature becomes
// invalid.
std::string WithLastDate(const std::string& pem, std::string_view date) {
  const std::size_t begin = pem.find('\n');
  const std::size_t end = pem.find("\n-----END");
  std::string der = base::DecodeBase64(pem.substr(begin, end - begin)).value();
  // Two GeneralizedTimes in a row.
  der.replace(der.find("\x18\x0f", der.find("\x18\x0f") + 1) + 2, 15, date);
  return pem.substr(0, begin + 1) + base::EncodeBase64(der) + pem.substr(end);
}

TEST_CASE(
    "certificates: a certificate without an end is valid for long, and invalid dates are an error",
    "[http][tls]") {
  const DatedAuthority authority;
  const auto read =
      http::ReadCertificates(WithLastDate(authority.ca.cert_pem, "99991231235959Z"), "x");
  REQUIRE(read.has_value());
  CHECK(read->front().ValidAt(kDay));
  CHECK(read->front().ValidAt(kDay + 24h * 365 * 100));
  const auto wrong =
      http::ReadCertificates(WithLastDate(authority.ca.cert_pem, "20601399235959Z"), "x");
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message == "x: a certificate whose dates do not parse");
}

TEST_CASE("certificates: an error of a missing or truncated certificate names its place",
          "[http][tls]") {
  const Authority authority;
  const std::string& whole = authority.ca.cert_pem;
  const auto half = http::ReadCertificates(whole.substr(0, whole.size() / 2), "tls.crt");
  REQUIRE_FALSE(half.has_value());
  CHECK(half.error().message.starts_with("tls.crt: "));
  const auto none = http::ReadCertificates("", "tls.crt");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == "tls.crt: no PEM certificate found");
}

}  // namespace

}  // namespace certificate_test
