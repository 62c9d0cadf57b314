#pragma once

// The daemon's own CA and serving certificate as PEM texts: looked into, and changed by the steps
// of certificate_plan.h. Nothing here waits or writes. Values; any thread.

#include <string>
#include <vector>

#include "pkg/admission/certificate_plan.h"
#include "pkg/base/error.h"

namespace admission {

// "" for what is absent.
struct Keyring {
  std::string ca_pem;      // the bundle: every CA that is published
  std::string ca_key_pem;  // of one of them, the signer
  std::string cert_pem;    // the serving certificate
  std::string key_pem;
  bool operator==(const Keyring&) const = default;
  [[nodiscard]] bool empty() const { return *this == Keyring(); }
};

struct KeyringReport {
  KeyringState state;
  // What is there but cannot be used: "ca.key: …", named as the Secret's keys. What is absent is
  // no trouble. "" if all is well.
  std::string trouble;
};

// Judged for these names, whatever the date.
KeyringReport Inspect(const Keyring& keyring, const std::vector<std::string>& hosts);

// The keyring after the action. REQUIRES: the action was planned from Inspect(keyring, hosts).
base::Result<Keyring> CarryOut(CertificateAction action, const Keyring& keyring,
                               const std::vector<std::string>& hosts, base::WallTime now,
                               const CertificatePolicy& policy);

}  // namespace admission
