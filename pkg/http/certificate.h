#pragma once

// Internal to pkg/http and tests: certificates with any subject, issuer and lifetime.

#include <chrono>
#include <string>
#include <vector>

#include "pkg/http/server.h"

namespace http {

struct CertificateSpec {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> hosts;                            // names and IP addresses
  std::chrono::seconds valid_from = std::chrono::hours(-1);  // relative to now; clocks differ
  std::chrono::seconds valid_until = std::chrono::hours(24 * 365);
  bool is_ca = false;
  const CertificatePair* issuer = nullptr;  // null: self-signed
};

// ECDSA P-256. Errors: kInvalidArgument for an issuer that does not parse.
base::Result<CertificatePair> MakeCertificate(const CertificateSpec& spec);

}  // namespace http
