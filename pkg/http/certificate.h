#pragma once

// Creates and reads certificates as PEM text: enough to run a small certificate authority without
// using the TLS library's types. Keys are ECDSA P-256, signatures use SHA-256, serial numbers are
// 127 random bits, names are only subject alternative names.
//
// A CA without hosts signs certificates of servers and clients, but no further CA. A certificate
// with hosts that is not a CA is for servers only (extended key usage serverAuth).
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
  std::vector<std::string> hosts;     // names and IP addresses
  std::optional<base::WallTime> now;  // nullopt: the system's clock
  // Relative to now, because clocks differ.
  std::chrono::seconds valid_from = std::chrono::hours(-1);
  std::chrono::seconds valid_until = std::chrono::hours(24 * 365);
  bool is_ca = false;
  const CertificatePair* issuer = nullptr;  // null: self-signed
};

// Errors: kInvalidArgument if the issuer does not parse.
base::Result<CertificatePair> MakeCertificate(const CertificateSpec& spec);

struct CertificateInfo {
  std::string pem;  // only this certificate, as OpenSSL writes it
  base::WallTime not_before;
  base::WallTime not_after;
  std::vector<std::string> hosts;  // DNS names and IP addresses
  std::string common_name;         // the first one of the subject; "" if there is none
  bool is_ca = false;
  [[nodiscard]] bool ValidAt(base::WallTime time) const {
    return not_before <= time && time < not_after;
  }
};

// Returns every certificate of a PEM text in order, at least one. Text around them is skipped.
// Errors: kInvalidArgument, "<what>: …".
base::Result<std::vector<CertificateInfo>> ReadCertificates(const std::string& pem,
                                                            std::string_view what);

// Returns a text for each certificate of a CA bundle that does not parse, with its place: "PEM
// block 2: …". A client skips it, and trusts only the others (as in Go's
// CertPool.AppendCertsFromPEM).
std::vector<std::string> UnreadableRoots(const std::string& pem);

// Checks that the key belongs to the first certificate. Errors: kInvalidArgument, saying which one
// does not parse, or that they do not match.
base::Result<void> CheckKey(const std::string& cert_pem, const std::string& key_pem);

struct ServerCheck {
  std::string host;                  // "": any
  std::optional<base::WallTime> at;  // nullopt: dates are not checked
};

// Checks that a client that trusts only `roots_pem` accepts the first certificate of `chain_pem`
// from a server (the others may be intermediates). Errors: kTls with the reason; kInvalidArgument
// if something does not parse.
base::Result<void> CheckServer(const std::string& chain_pem, const std::string& roots_pem,
                               const ServerCheck& check);

}  // namespace http
