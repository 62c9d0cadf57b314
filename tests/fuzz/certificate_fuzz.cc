// Certificates and keys in PEM, as in files and Secrets, or a certificate's plain bytes: every
// certificate that was read is read again as the same, and nothing is trusted that is not there.

#include "pkg/http/certificate.h"

#include "pkg/api/time.h"
#include "pkg/base/base64.h"
#include "pkg/http/tls.h"
#include "pkg/webhook/certificate_keyring.h"
#include "tests/fuzz/target.h"

namespace {

void CheckOne(const http::CertificateInfo& info) {
  const auto again = http::ReadCertificates(info.pem, "x");
  fuzz::Require(again && again->size() == 1, "what was read can be read");
  const http::CertificateInfo& other = again->front();
  fuzz::RequireSame(other.pem, info.pem, "the same PEM");
  fuzz::Require(other.not_before == info.not_before && other.not_after == info.not_after &&
                    other.hosts == info.hosts && other.is_ca == info.is_ca,
                "the same certificate");
  fuzz::Require(!info.ValidAt(info.not_after), "it ends when it ends");
}

// So that a byte of the input is a byte of the certificate; PEM would hide it.
std::string AsPem(std::string_view text) {
  if (text.empty() || text.front() != '\x30') return std::string(text);
  const std::string base64 = base::EncodeBase64(text);
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  for (std::size_t at = 0; at < base64.size(); at += 64) pem.append(base64, at, 64).push_back('\n');
  return pem.append("-----END CERTIFICATE-----\n");
}

FUZZ_TARGET(certificate) {
  const auto parts = fuzz::Parts(input, 2);
  fuzz::Chance chance(input);
  const std::string certificates = AsPem(parts[0]);
  const std::string key(parts[1]);
  const auto read = http::ReadCertificates(certificates, "x");
  if (read) {
    fuzz::Require(!read->empty(), "at least one");
    for (const http::CertificateInfo& info : *read) CheckOne(info);
    if (chance.OneIn(4)) {
      (void)http::CheckServer(certificates, certificates, {.host = "localhost"});
    }
  } else {
    fuzz::Require(read.error().Is(base::ErrorCode::kInvalidArgument), "the text is wrong");
  }
  const bool pair = http::CheckKey(certificates, key).has_value();
  // Slow: it would take most of an input's time.
  if (pair || chance.OneIn(16)) {
    const auto context = http::TlsContext::ForServer(
        {.cert_pem = certificates, .key_pem = key, .client_ca_pem = ""});
    fuzz::Require(!context || pair, "who can serve has the key");
  }
  if (read && !chance.OneIn(4)) return;

  static const base::WallTime now = *api::ParseTime("2026-01-02T03:04:05Z");
  const webhook::Keyring keyring{certificates, key, certificates, key};
  const std::vector<std::string> hosts = {"localhost"};
  const auto report = webhook::Inspect(keyring, hosts);
  const auto step = webhook::PlanCertificates(report.state, {now, now}, true, {});
  if (!read) fuzz::Require(step.action != webhook::CertificateAction::kNone, "to be made anew");
}

}  // namespace
