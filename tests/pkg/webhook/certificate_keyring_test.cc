#include "pkg/webhook/certificate_keyring.h"

#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "pkg/http/certificate.h"

namespace certificate_keyring_test {

namespace {

using webhook::CarryOut;
using webhook::CertificateAction;
using webhook::CertificatePolicy;
using webhook::Inspect;
using webhook::Keyring;
using namespace std::chrono_literals;

const base::WallTime kNow(std::chrono::hours(24 * 365 * 60));
const std::vector<std::string> kHosts = {"web.ns.svc", "127.0.0.1"};

Keyring Do(CertificateAction action, const Keyring& keyring = {}, base::WallTime now = kNow) {
  return CarryOut(action, keyring, kHosts, {now, now}, CertificatePolicy()).value();
}

bool Accepts(const Keyring& trusting, const Keyring& serving) {
  return http::CheckServer(serving.cert_pem, trusting.ca_pem, {.host = "web.ns.svc", .at = kNow})
      .has_value();
}

TEST_CASE("certificate keyring: a new one is complete and has the policy's dates", "[admission]") {
  const Keyring keyring = Do(CertificateAction::kStartOver);
  const auto report = Inspect(keyring, kHosts);
  CHECK(report.trouble.empty());
  REQUIRE(report.state.signer);
  REQUIRE(report.state.leaf);
  CHECK(report.state.leaf_by_signer);
  CHECK(report.state.others.empty());
  CHECK(report.state.leaf->not_before == kNow - 24h * 30);
  CHECK(report.state.leaf->not_after == kNow + 24h * 90);
  CHECK(report.state.signer->not_after == kNow + 24h * 365);
}

TEST_CASE("certificate keyring: a leaf never outlives its CA", "[admission]") {
  const Keyring keyring = Do(CertificateAction::kStartOver);
  const Keyring late = Do(CertificateAction::kIssueLeaf, keyring, kNow + 24h * 300);
  const auto report = Inspect(late, kHosts);
  CHECK(report.state.leaf->not_after == report.state.signer->not_after);
}

TEST_CASE("certificate keyring: clients accept each of the three steps of a rotation",
          "[admission]") {
  const Keyring first = Do(CertificateAction::kStartOver);
  const Keyring published = Do(CertificateAction::kPublishCa, first);
  CHECK(published.cert_pem == first.cert_pem);
  CHECK(published.key_pem == first.key_pem);
  CHECK_FALSE(Inspect(published, kHosts).state.leaf_by_signer);
  CHECK(Inspect(published, kHosts).state.others.size() == 1);

  const Keyring switched = Do(CertificateAction::kIssueLeaf, published);
  CHECK(switched.ca_pem == published.ca_pem);
  const Keyring dropped = Do(CertificateAction::kDropOld, switched);
  CHECK(dropped.cert_pem == switched.cert_pem);
  CHECK(Inspect(dropped, kHosts).state.others.empty());

  // A client that is one step behind or ahead still accepts the leaf.
  CHECK(Accepts(first, published));
  CHECK(Accepts(published, first));
  CHECK(Accepts(published, switched));
  CHECK(Accepts(switched, published));
  CHECK(Accepts(switched, dropped));
  CHECK(Accepts(dropped, switched));
  CHECK_FALSE(Accepts(dropped, first));
}

TEST_CASE("certificate keyring: the report names the damaged part", "[admission]") {
  const Keyring good = Do(CertificateAction::kStartOver);
  const Keyring other = Do(CertificateAction::kStartOver);

  Keyring mixed = good;
  mixed.key_pem = other.key_pem;
  CHECK(Inspect(mixed, kHosts).trouble ==
        "tls.crt, tls.key: the private key does not match the certificate");
  CHECK_FALSE(Inspect(mixed, kHosts).state.leaf);
  CHECK(Inspect(mixed, kHosts).state.signer);

  Keyring no_ca = good;
  no_ca.ca_pem = "garbage";
  CHECK(Inspect(no_ca, kHosts).trouble.starts_with("ca.crt: no PEM certificate found"));
  CHECK_FALSE(Inspect(no_ca, kHosts).state.signer);
  CHECK_FALSE(Inspect(no_ca, kHosts).state.leaf);

  Keyring strange_key = good;
  strange_key.ca_key_pem = other.ca_key_pem;
  CHECK(Inspect(strange_key, kHosts).trouble.starts_with("ca.key: "));
  CHECK(Inspect(strange_key, kHosts).state.leaf);

  Keyring strange_leaf = good;
  strange_leaf.cert_pem = other.cert_pem;
  strange_leaf.key_pem = other.key_pem;
  CHECK_FALSE(Inspect(strange_leaf, kHosts).state.leaf);

  CHECK(Inspect(good, {"elsewhere.ns.svc"}).trouble ==
        "tls.crt, tls.key: the certificate is for DNS:web.ns.svc, IP:127.0.0.1, not for "
        "elsewhere.ns.svc");
}

TEST_CASE("certificate keyring: a certificate with invalid dates is no leaf", "[admission]") {
  Keyring keyring = Do(CertificateAction::kStartOver);
  const std::size_t begin = keyring.cert_pem.find('\n');
  const std::size_t end = keyring.cert_pem.find("\n-----END");
  std::string der = base::DecodeBase64(keyring.cert_pem.substr(begin, end - begin)).value();
  der[der.find("\x17\x0d") + 4] = '9';  // the month
  keyring.cert_pem.replace(begin + 1, end - begin - 1, base::EncodeBase64(der));
  const auto report = Inspect(keyring, {});
  CHECK(report.trouble == "tls.crt: certificate: a certificate whose dates do not parse");
  CHECK_FALSE(report.state.leaf);
}

TEST_CASE("certificate keyring: an absent part is issued and not reported", "[admission]") {
  CHECK(Inspect({}, kHosts).trouble.empty());
  Keyring without = Do(CertificateAction::kStartOver);
  without.ca_key_pem.clear();
  CHECK(Inspect(without, kHosts).trouble.empty());
  CHECK_FALSE(Inspect(without, kHosts).state.signer);
  CHECK(Inspect(without, kHosts).state.leaf);
  without.key_pem.clear();
  CHECK(Inspect(without, kHosts).trouble.empty());
}

TEST_CASE("certificate keyring: a bundle with many foreign CAs is bounded and keeps the issuer",
          "[admission]") {
  Keyring keyring = Do(CertificateAction::kStartOver);
  std::string stuffed;
  for (int i = 0; i < 20; ++i) stuffed += Do(CertificateAction::kStartOver).ca_pem;
  keyring.ca_pem = stuffed + keyring.ca_pem;
  const Keyring published = Do(CertificateAction::kPublishCa, keyring);
  CHECK(Inspect(published, kHosts).state.leaf);
  CHECK(Inspect(published, kHosts).state.others.size() == 1);
}

}  // namespace

}  // namespace certificate_keyring_test
