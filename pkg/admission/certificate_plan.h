#pragma once

// When the daemon's own CA and serving certificate are to be made anew: decided from dates alone.
//
// The order that keeps every call of the API server answered: a new CA is first published beside
// the old one; when all who call have had time to learn of it, the serving certificate is made
// anew by it; the old CA is dropped a day later. No step changes both what is trusted and what is
// shown, except where nothing usable is left anyway.
//
// All is read from the certificates themselves, nothing is remembered, so replicas that see the
// same Secret decide the same, and a clock that jumps is only another question. Values; any thread.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "pkg/base/clock.h"

namespace admission {

struct CertificatePolicy {
  std::chrono::seconds ca_life = std::chrono::hours(24 * 365);
  std::chrono::seconds leaf_life = std::chrono::hours(24 * 90);
  std::chrono::seconds backdate = std::chrono::hours(1);  // valid before it is made: clocks differ
  double renew_at = 0.6;                                  // of a life
  std::chrono::seconds publish_for = std::chrono::minutes(5);  // a new CA, before it is relied on
  std::chrono::seconds keep_old = std::chrono::hours(24);      // an old CA, after it was relied on
};

struct CertificateDates {
  base::WallTime not_before;
  base::WallTime not_after;
};

// What there is. Something that cannot be used whatever the date (no key, another key, wrong names,
// an unknown issuer) is absent.
struct KeyringState {
  std::optional<CertificateDates> signer;  // the CA whose key is held
  std::optional<CertificateDates> leaf;    // the serving certificate; some CA below made it
  bool leaf_by_signer = false;
  std::vector<CertificateDates> others;  // CAs published beside the signer
};

enum class CertificateAction {
  kNone,
  kStartOver,  // a CA and a leaf: none is usable
  kPublishCa,  // a new signer joins the bundle, the leaf stays
  kIssueLeaf,  // a leaf by the signer, the bundle stays
  kDropOld,    // only the signer stays in the bundle
};
std::string_view ToString(CertificateAction action);

struct CertificateStep {
  CertificateAction action = CertificateAction::kNone;
  std::string_view reason;  // for logs; "" for kNone
  base::WallTime next;      // kNone: when there may be something to do
};

// `published`: every place that we know of trusts the bundle. Only the switch of the leaf to a new
// CA waits for it, and not beyond the end of the old leaf.
CertificateStep PlanCertificates(const KeyringState& state, base::WallTime now, bool published,
                                 const CertificatePolicy& policy);

}  // namespace admission
