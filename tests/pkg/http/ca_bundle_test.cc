#include <catch2/catch.hpp>

#include "pkg/http/certificate.h"
#include "tests/pkg/http/loopback.h"

namespace ca_bundle_test {

namespace {

using base::ErrorCode;
using http::test::Authority;
using http::test::kLong;

constexpr const char* kNotBase64 = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
constexpr const char* kNotDer = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
constexpr const char* kOtherType = "-----BEGIN EC PARAMETERS-----\nAAAA\n-----END X-----\n";

// Connects once to a server of `authority` with this bundle.
base::Result<http::Response> Ask(const Authority& authority, const std::string& bundle) {
  http::test::Loopback loopback;
  loopback.options.tls = authority.Serve();
  loopback.handler = http::test::Echo;
  base::Result<http::Response> result = base::Error{};
  loopback.Run([&]() -> base::Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.tls.ca_pem = bundle;
    const auto client = http::NewClient(loopback.io().get_executor(), std::move(options));
    if (!client) {
      result = client.error();
      co_return;
    }
    result = co_await (*client)->Do(http::Request(), kLong);
  });
  return result;
}

std::string Half(const std::string& pem) { return pem.substr(0, pem.size() / 2) + "\n"; }

TEST_CASE("CA bundle: a block that is no readable certificate does not hide the others",
          "[http][tls]") {
  const Authority authority;
  const std::string& good = authority.ca.cert_pem;
  const std::string bad =
      GENERATE_REF(std::string(kNotBase64), std::string(kNotDer), std::string(kOtherType),
                   Half(good), authority.ca.key_pem, std::string("# text around the blocks\n"));
  for (const std::string& bundle : {bad + good, good + bad, (bad + good).append(bad)}) {
    INFO(bundle);
    const auto response = Ask(authority, bundle);
    if (!response) FAIL(response.error().message);
    CHECK(response->status == 200);
  }
}

TEST_CASE("CA bundle: a skipped certificate is never trusted", "[http][tls]") {
  const Authority authority;
  const Authority other;
  const auto response = Ask(authority, Half(authority.ca.cert_pem) + other.ca.cert_pem);
  REQUIRE_FALSE(response.has_value());
  CHECK(response.error().Is(ErrorCode::kTls));
}

TEST_CASE("CA bundle: one without any readable certificate is an error", "[http][tls]") {
  const Authority authority;
  const auto error = [&](const std::string& bundle) {
    const auto response = Ask(authority, bundle);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kInvalidArgument));
    return response.error().message;
  };
  CHECK(error("x") == "certificate authority: no PEM certificate found");
  CHECK(error(authority.ca.key_pem) == "certificate authority: no PEM certificate found");
  using Catch::Matchers::Contains;
  for (const std::string& bad :
       {std::string(kNotBase64), std::string(kNotDer) + kOtherType, Half(authority.ca.cert_pem)}) {
    CHECK_THAT(error(bad), Contains("certificate authority: ") && Contains("does not parse"));
  }
}

}  // namespace

}  // namespace ca_bundle_test
