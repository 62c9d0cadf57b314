#include "pkg/webhook/certificate_plan.h"

#include <algorithm>

namespace webhook {
namespace {

using Action = CertificateAction;

bool ValidAt(const std::optional<CertificateDates>& dates, base::WallTime now) {
  return dates && dates->not_before <= now && now < dates->not_after;
}

base::WallTime MadeAt(const CertificateDates& dates, const CertificatePolicy& policy) {
  return dates.not_before + policy.backdate;
}

base::WallTime DueAt(const CertificateDates& dates, const CertificatePolicy& policy) {
  const base::WallTime made = MadeAt(dates, policy);
  const std::chrono::duration<double> life = dates.not_after - made;
  return made + std::chrono::duration_cast<std::chrono::seconds>(life * policy.renew_at);
}

// A new CA is published, and the old one still signs the leaf.
CertificateStep WaitForSwitch(const KeyringState& state, base::WallTime now, bool published,
                              const CertificatePolicy& policy) {
  const base::WallTime known = MadeAt(*state.signer, policy) + policy.publish_for;
  // An expired leaf fails at all API servers, an unknown CA only at some: switch before the end.
  const base::WallTime last_moment = state.leaf->not_after - policy.leaf_life / 50;
  if (now >= last_moment) return {Action::kIssueLeaf, "the old CA's certificate expires soon", now};
  if (now < known) return {Action::kNone, "", std::min(known, last_moment)};
  if (published) return {Action::kIssueLeaf, "the new CA is published", now};
  return {Action::kNone, "", now};
}

}  // namespace

std::string_view ToString(CertificateAction action) {
  switch (action) {
    case Action::kNone:
      return "none";
    case Action::kStartOver:
      return "new CA and certificate";
    case Action::kPublishCa:
      return "new CA published";
    case Action::kIssueLeaf:
      return "new certificate";
    case Action::kDropOld:
      return "old CA dropped";
  }
  return "?";
}

CertificateStep PlanCertificates(const KeyringState& state, base::WallTime now, bool published,
                                 const CertificatePolicy& policy) {
  const bool signer_valid = ValidAt(state.signer, now);
  const bool leaf_valid = ValidAt(state.leaf, now);
  if (!signer_valid && !leaf_valid) return {Action::kStartOver, "no usable CA", now};
  if (!signer_valid) return {Action::kPublishCa, "the CA cannot sign", now};
  if (!leaf_valid) return {Action::kIssueLeaf, "no usable certificate", now};
  if (!state.leaf_by_signer) return WaitForSwitch(state, now, published, policy);

  // The leaf first: no caller has to learn anything for that, and a new CA may wait long until it
  // is published.
  const base::WallTime leaf_due = DueAt(*state.leaf, policy);
  if (now >= leaf_due) return {Action::kIssueLeaf, "the certificate is due", now};
  if (!state.others.empty()) {
    // The leaf's date tells when it was switched: replicas agree without any other state.
    const base::WallTime drop = MadeAt(*state.leaf, policy) + policy.keep_old;
    if (now >= drop) return {Action::kDropOld, "no replica serves its certificates any more", now};
    return {Action::kNone, "", std::min(drop, leaf_due)};
  }
  const base::WallTime ca_due = DueAt(*state.signer, policy);
  if (now >= ca_due) return {Action::kPublishCa, "the CA is due", now};
  return {Action::kNone, "", std::min(ca_due, leaf_due)};
}

}  // namespace webhook
