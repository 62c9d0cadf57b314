#pragma once

// Certificates as PEM text, made and read: everything a caller needs to run a small authority of
// its own, without a name of the TLS library. Keys are ECDSA P-256, signatures SHA-256, serial
// numbers 127 random bits, names only as subject alternative names.
//
// A CA without hosts signs certificates of servers and clients, and no further CA. A certificate
// with hosts that is no CA is for servers only (extended key usage serverAuth).
//
// Private keys never appear in an error. Functions of values; any thread.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/http/server.h"

namespace http {

struct CertificateSpec {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> hosts;                            // names and IP addresses
  std::optional<base::WallTime> now;                         // nullopt: the system's clock
  std::chrono::seconds valid_from = std::chrono::hours(-1);  // relative to now; clocks differ
  std::chrono::seconds valid_until = std::chrono::hours(24 * 365);
  bool is_ca = false;
  const CertificatePair* issuer = nullptr;  // null: self-signed
};

// Errors: kInvalidArgument for an issuer that does not parse.
base::Result<CertificatePair> MakeCertificate(const CertificateSpec& spec);

struct CertificateInfo {
  std::string pem;  // this certificate alone, as OpenSSL writes it
  base::WallTime not_before;
  base::WallTime not_after;
  std::vector<std::string> hosts;  // DNS names and IP addresses it is for
  bool is_ca = false;
  [[nodiscard]] bool ValidAt(base::WallTime time) const {
    return not_before <= time && time < not_after;
  }
};

// Every certificate of a PEM text, in order, at least one; text around them is skipped. Errors:
// kInvalidArgument, "<what>: …".
base::Result<std::vector<CertificateInfo>> ReadCertificates(const std::string& pem,
                                                            std::string_view what);

// Whether the key is that of the first certificate. Errors: kInvalidArgument, saying which does not
// parse, or that they are not of one pair.
base::Result<void> CheckKey(const std::string& cert_pem, const std::string& key_pem);

struct ServerCheck {
  std::string host;                  // "": any
  std::optional<base::WallTime> at;  // nullopt: dates are not looked at
};

// Whether a client that trusts `roots_pem` alone accepts the first certificate of `chain_pem` (the
// others may be intermediates) from a server. Errors: kTls with the reason, kInvalidArgument for
// what does not parse.
base::Result<void> CheckServer(const std::string& chain_pem, const std::string& roots_pem,
                               const ServerCheck& check);

}  // namespace http
