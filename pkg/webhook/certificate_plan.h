#pragma once

// Decides when the daemon's own CA and serving certificate are renewed, from their dates only.
//
// No call of the API server fails during a rotation, because it has this order: the new CA is
// published beside the old one; when all callers have had time to learn of it, it issues a new
// serving certificate; a day later the old CA is dropped. No step changes both the trusted CAs and
// the served certificate, unless neither is usable.
//
// The certificates are the only state. So replicas that see the same Secret plan the same step, and
// a clock jump needs no special case.
//
// Clocks differ (seen_clocks.h), and what one of them takes for "not yet valid" is no reason to
// issue anything: another one would disagree, and both would take turns. Only the latest clock
// causes a renewal. The new certificate satisfies it for a whole lifetime, and all earlier clocks
// as well, so nobody renews it again. Values; any thread.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/webhook/seen_clocks.h"

namespace webhook {

struct CertificatePolicy {
  std::chrono::seconds ca_life = std::chrono::hours(24 * 365);
  std::chrono::seconds leaf_life = std::chrono::hours(24 * 90);
  // How long before the earliest clock a certificate is valid: API servers whose clocks nobody has
  // seen may be behind.
  std::chrono::seconds backdate = std::chrono::hours(24 * 30);
  double renew_at = 0.6;                                       // of the lifetime
  std::chrono::seconds publish_for = std::chrono::minutes(5);  // a new CA, before it signs
  std::chrono::seconds keep_old = std::chrono::hours(24);      // an old CA, after its last leaf
};

struct CertificateDates {
  base::WallTime not_before;
  base::WallTime not_after;
};

// The present keyring. A part that is unusable at any date (no key, a key that does not match,
// wrong names, an unknown issuer) counts as absent.
struct KeyringState {
  std::optional<CertificateDates> signer;  // the CA whose key is held
  std::optional<CertificateDates> leaf;    // the serving certificate, signed by one of the CAs
  bool leaf_by_signer = false;
  std::vector<CertificateDates> others;  // other published CAs
};

enum class CertificateAction {
  kNone,
  kStartOver,  // issues a CA and a leaf: neither is usable
  kPublishCa,  // a new signer joins the bundle, the leaf stays
  kIssueLeaf,  // the signer issues a leaf, the bundle stays
  kDropOld,    // only the signer stays in the bundle
};
std::string_view ToString(CertificateAction action);

struct CertificateStep {
  CertificateAction action = CertificateAction::kNone;
  std::string_view reason;  // for logs; "" for kNone
  base::WallTime next;      // kNone: when to plan again
};

// `published`: the bundle is known to be stored everywhere. Only the switch of the leaf to a new CA
// waits for this, and not longer than the old leaf is valid.
CertificateStep PlanCertificates(const KeyringState& state, ClockRange clocks, bool published,
                                 const CertificatePolicy& policy);
// True if one of these clocks takes the certificate for valid.
bool IsAccepted(const CertificateDates& dates, ClockRange clocks);

}  // namespace webhook
