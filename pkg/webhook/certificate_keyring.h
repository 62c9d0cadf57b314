#pragma once

// The daemon's own CA and serving certificate as PEM texts. Inspects them, and performs the steps
// that certificate_plan.h plans. No I/O. Values; any thread.

#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/webhook/certificate_plan.h"

namespace webhook {

// A part that is absent is "".
struct Keyring {
  std::string ca_pem;      // the bundle: all published CAs
  std::string ca_key_pem;  // the signer's; the signer is one of them
  std::string cert_pem;    // the serving certificate
  std::string key_pem;
  bool operator==(const Keyring&) const = default;
  [[nodiscard]] bool empty() const { return *this == Keyring(); }
};

struct KeyringReport {
  KeyringState state;
  // Which parts are present but unusable: "ca.key: …", by the keys of the Secret. An absent part is
  // not reported. "" if there is nothing to report.
  std::string trouble;
};

// Checks the leaf for these names. Ignores the current date.
KeyringReport Inspect(const Keyring& keyring, const std::vector<std::string>& hosts);

// Returns the keyring after the action. What it issues is valid for a whole lifetime by the latest
// clock, and from before the earliest. REQUIRES: the action was planned from Inspect(keyring,
// hosts).
base::Result<Keyring> CarryOut(CertificateAction action, const Keyring& keyring,
                               const std::vector<std::string>& hosts, ClockRange clocks,
                               const CertificatePolicy& policy);

// True if every certificate of the bundle is a CA that some daemon issued, going by its name.
bool IsIssuedByDaemon(const std::string& ca_pem);

}  // namespace webhook
