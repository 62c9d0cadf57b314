#include "pkg/webhook/certificate_keyring.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/api/time.h"
#include "pkg/http/certificate.h"

namespace webhook {
namespace {

using http::CertificateInfo;
using http::CertificatePair;

constexpr std::string_view kCaName = "quota-controller-manager admission CA ";
// More than any rotation leaves. Bounds what others add to the bundle.
constexpr std::size_t kMaxOldCas = 6;

CertificateDates DatesOf(const CertificateInfo& info) { return {info.not_before, info.not_after}; }

// Returns none for an absent and for an unreadable text.
std::vector<CertificateInfo> Read(const std::string& pem) {
  if (pem.empty()) return {};
  auto read = http::ReadCertificates(pem, "certificate");
  return read ? std::move(*read) : std::vector<CertificateInfo>();
}

const CertificateInfo* FindSigner(const std::vector<CertificateInfo>& cas, const Keyring& keyring) {
  if (keyring.ca_key_pem.empty()) return nullptr;
  for (const CertificateInfo& ca : cas) {
    if (ca.is_ca && http::CheckKey(ca.pem, keyring.ca_key_pem)) return &ca;
  }
  return nullptr;
}

// Why the key belongs to none of the CAs. The error is about the first certificate.
base::Result<void> CheckCaKey(const Keyring& keyring, const std::vector<CertificateInfo>& cas) {
  auto checked = http::CheckKey(cas.front().pem, keyring.ca_key_pem);
  if (checked) return base::Error{.message = "its certificate is not a CA"};
  return checked;
}

base::Result<void> CheckLeaf(const Keyring& keyring, const std::vector<std::string>& hosts) {
  auto done = http::CheckKey(keyring.cert_pem, keyring.key_pem);
  if (!done) return done;
  for (const std::string& host : hosts) {
    done = http::CheckServer(keyring.cert_pem, keyring.ca_pem, {.host = host, .at = {}});
    if (!done) return done;
  }
  return {};
}

void Complain(KeyringReport& report, std::string_view part, const base::Error& error) {
  report.trouble += (report.trouble.empty() ? "" : "; ") + error.Wrap(part).message;
}

void InspectCas(const Keyring& keyring, KeyringReport& report) {
  const std::vector<CertificateInfo> cas = Read(keyring.ca_pem);
  if (cas.empty()) {
    if (keyring.empty()) return;
    const auto why = http::ReadCertificates(keyring.ca_pem, "ca.crt");
    report.trouble = why.error().message;
    return;
  }
  const CertificateInfo* signer = FindSigner(cas, keyring);
  if (signer == nullptr && !keyring.ca_key_pem.empty()) {
    Complain(report, "ca.key", CheckCaKey(keyring, cas).error());
  }
  for (const CertificateInfo& ca : cas) {
    if (&ca == signer) {
      report.state.signer = DatesOf(ca);
      report.state.leaf_by_signer =
          !keyring.cert_pem.empty() && http::CheckServer(keyring.cert_pem, ca.pem, {}).has_value();
    } else {
      report.state.others.push_back(DatesOf(ca));
    }
  }
}

CertificatePair MadeBy(const Keyring& keyring, const std::vector<CertificateInfo>& cas) {
  const CertificateInfo* signer = FindSigner(cas, keyring);
  return {signer == nullptr ? "" : signer->pem, keyring.ca_key_pem};
}

// Relative to the latest clock.
std::chrono::seconds ValidFrom(base::WallTime earliest, ClockRange clocks) {
  return std::chrono::floor<std::chrono::seconds>(earliest - clocks.latest);
}

// Two years: more than clocks differ that are believed, and what a bundle of CAs lasts.
constexpr std::chrono::hours kEarliest{24 * 731};

// A new CA is valid as early as its predecessor: somebody whose clock we have not seen accepted
// that one, and must accept this one.
base::Result<CertificatePair> MakeCa(const std::vector<CertificateInfo>& cas, ClockRange clocks,
                                     const CertificatePolicy& policy) {
  base::WallTime from = clocks.earliest - policy.backdate;
  for (const CertificateInfo& ca : cas) {
    from = std::min(from, std::max(ca.not_before, clocks.latest - kEarliest));
  }
  // The name contains the time: with two CAs of the same name in a bundle, a verifier may try the
  // wrong one.
  return http::MakeCertificate(
      {.common_name = std::string(kCaName) + api::FormatTime(clocks.latest),
       .now = clocks.latest,
       .valid_from = ValidFrom(from, clocks),
       .valid_until = policy.ca_life,
       .is_ca = true});
}

// The leaf never outlives its CA: no client would accept it then. It is valid as early as its CA:
// whoever accepts the CA accepts each of its leaves, so a renewal locks out nobody.
base::Result<CertificatePair> MakeLeaf(const CertificatePair& ca,
                                       const std::vector<std::string>& hosts, ClockRange clocks,
                                       const CertificatePolicy& policy) {
  const auto read = http::ReadCertificates(ca.cert_pem, "CA");
  if (!read) return read.error();
  const CertificateInfo& issuer = read->front();
  const auto left = std::chrono::floor<std::chrono::seconds>(issuer.not_after - clocks.latest);
  const base::WallTime from = std::min(issuer.not_before, clocks.earliest - policy.backdate);
  return http::MakeCertificate({.common_name = "quota-controller-manager admission",
                                .hosts = hosts,
                                .now = clocks.latest,
                                .valid_from = ValidFrom(from, clocks),
                                .valid_until = std::min(policy.leaf_life, left),
                                .issuer = &ca});
}

// The published CAs that stay beside a new one. Beyond the bound only those that verify the leaf
// stay.
std::string OldCas(const Keyring& keyring, ClockRange clocks) {
  std::vector<CertificateInfo> cas = Read(keyring.ca_pem);
  std::erase_if(cas, [&](const CertificateInfo& ca) { return ca.not_after <= clocks.earliest; });
  if (cas.size() > kMaxOldCas) {
    std::erase_if(cas, [&](const CertificateInfo& ca) {
      return !http::CheckServer(keyring.cert_pem, ca.pem, {});
    });
    cas.resize(std::min(cas.size(), kMaxOldCas));
  }
  std::string bundle;
  for (const CertificateInfo& ca : cas) bundle += ca.pem;
  return bundle;
}

base::Result<Keyring> WithLeaf(Keyring keyring, const CertificatePair& ca,
                               const std::vector<std::string>& hosts, ClockRange clocks,
                               const CertificatePolicy& policy) {
  auto leaf = MakeLeaf(ca, hosts, clocks, policy);
  if (!leaf) return leaf.error().Wrap("serving certificate");
  keyring.cert_pem = std::move(leaf->cert_pem);
  keyring.key_pem = std::move(leaf->key_pem);
  return keyring;
}

}  // namespace

KeyringReport Inspect(const Keyring& keyring, const std::vector<std::string>& hosts) {
  KeyringReport report;
  InspectCas(keyring, report);
  if (keyring.cert_pem.empty() || keyring.key_pem.empty()) return report;
  if (const auto usable = CheckLeaf(keyring, hosts); !usable) {
    Complain(report, "tls.crt, tls.key", usable.error());
    return report;
  }
  // Even if the key and the hosts match, the dates may be unreadable.
  const auto leaf = http::ReadCertificates(keyring.cert_pem, "certificate");
  if (leaf) {
    report.state.leaf = DatesOf(leaf->front());
  } else {
    Complain(report, "tls.crt", leaf.error());
  }
  return report;
}

bool IsIssuedByDaemon(const std::string& ca_pem) {
  const std::vector<CertificateInfo> cas = Read(ca_pem);
  return !cas.empty() && std::ranges::all_of(cas, [](const CertificateInfo& ca) {
    return ca.is_ca && ca.common_name.starts_with(kCaName);
  });
}

base::Result<Keyring> CarryOut(CertificateAction action, const Keyring& keyring,
                               const std::vector<std::string>& hosts, ClockRange clocks,
                               const CertificatePolicy& policy) {
  const std::vector<CertificateInfo> cas = Read(keyring.ca_pem);
  Keyring next = keyring;
  if (action == CertificateAction::kNone) return next;
  if (action == CertificateAction::kIssueLeaf) {
    return WithLeaf(std::move(next), MadeBy(keyring, cas), hosts, clocks, policy);
  }
  if (action == CertificateAction::kDropOld) {
    next.ca_pem = MadeBy(keyring, cas).cert_pem;
    CHECK(!next.ca_pem.empty()) << "old CAs are dropped without one that signs";
    return next;
  }
  const auto ca = MakeCa(cas, clocks, policy);
  if (!ca) return ca.error().Wrap("CA");
  next.ca_pem = OldCas(keyring, clocks) + ca->cert_pem;
  next.ca_key_pem = ca->key_pem;
  if (action == CertificateAction::kPublishCa) return next;
  return WithLeaf(std::move(next), *ca, hosts, clocks, policy);
}

}  // namespace webhook
