#include "pkg/webhook/certificate_plan.h"

#include <algorithm>

namespace webhook {
namespace {

using Action = CertificateAction;

// By the latest clock when it was made. Not from not_before, which is set for the earliest.
base::WallTime MadeAt(const CertificateDates& dates, std::chrono::seconds life) {
  return dates.not_after - life;
}

base::WallTime DueAt(const CertificateDates& dates, std::chrono::seconds life,
                     const CertificatePolicy& policy) {
  const std::chrono::duration<double> used = life * policy.renew_at;
  return MadeAt(dates, life) + std::chrono::duration_cast<std::chrono::seconds>(used);
}

// A leaf that ends with its CA cannot be renewed: the next one would end then, too.
base::WallTime LeafDueAt(const KeyringState& state, const CertificatePolicy& policy) {
  const bool clipped = state.leaf->not_after + std::chrono::seconds(1) >= state.signer->not_after;
  return clipped ? state.leaf->not_after : DueAt(*state.leaf, policy.leaf_life, policy);
}

// A new CA is published, and the old one still signs the leaf.
CertificateStep WaitForSwitch(const KeyringState& state, base::WallTime now, bool published,
                              const CertificatePolicy& policy) {
  const base::WallTime known = MadeAt(*state.signer, policy.ca_life) + policy.publish_for;
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

bool IsAccepted(const CertificateDates& dates, ClockRange clocks) {
  return dates.not_before <= clocks.latest && clocks.earliest < dates.not_after;
}

CertificateStep PlanCertificates(const KeyringState& state, ClockRange clocks, bool published,
                                 const CertificatePolicy& policy) {
  const base::WallTime now = clocks.latest;
  // What is signed must be valid by the latest clock.
  const bool signer_valid =
      state.signer && IsAccepted(*state.signer, clocks) && now < state.signer->not_after;
  const bool leaf_valid = state.leaf && IsAccepted(*state.leaf, clocks);
  if (!signer_valid && !leaf_valid) return {Action::kStartOver, "no usable CA", now};
  if (!signer_valid) return {Action::kPublishCa, "the CA cannot sign", now};
  if (!leaf_valid) return {Action::kIssueLeaf, "no usable certificate", now};
  if (!state.leaf_by_signer) return WaitForSwitch(state, now, published, policy);

  // The leaf first: no caller has to learn anything for that, and a new CA may wait long until it
  // is published.
  const base::WallTime leaf_due = LeafDueAt(state, policy);
  if (now >= leaf_due) return {Action::kIssueLeaf, "the certificate is due", now};
  if (!state.others.empty()) {
    // The leaf's date tells when it was switched: replicas agree without any other state.
    const base::WallTime drop = MadeAt(*state.leaf, policy.leaf_life) + policy.keep_old;
    if (now >= drop) return {Action::kDropOld, "no replica serves its certificates any more", now};
    return {Action::kNone, "", std::min(drop, leaf_due)};
  }
  const base::WallTime ca_due = DueAt(*state.signer, policy.ca_life, policy);
  if (now >= ca_due) return {Action::kPublishCa, "the CA is due", now};
  return {Action::kNone, "", std::min(ca_due, leaf_due)};
}

}  // namespace webhook
