#pragma once

// A TLS peer in memory: bytes in, bytes out. It can send what a regular peer never sends. OpenSSL
// makes what its interface allows; for TLS 1.2 records are sealed here, of any type and content.
// No I/O.

#include <openssl/ssl.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/http/server.h"

namespace http::test {

class TlsAttacker {
 public:
  struct Options {
    bool is_server = false;
    CertificatePair identity{};  // of a server
    bool tls12 = false;
  };
  explicit TlsAttacker(const Options& options);
  ~TlsAttacker();
  TlsAttacker(const TlsAttacker&) = delete;
  TlsAttacker& operator=(const TlsAttacker&) = delete;

  // Bytes from the other side.
  void Give(std::string_view bytes);
  // Bytes for the other side.
  std::string Take();
  // True once the handshake is done. Give() and Take() in between.
  bool ShakeHands();

  void Say(std::string_view text);  // a record of application data
  // What has been said to us.
  std::string Listen();
  void UpdateKeys(int times, bool ask);  // TLS 1.3
  void SendTickets(int times);           // TLS 1.3, a server
  // TLS 1.2, instead of Say(): a record with this content.
  std::string Seal(char type, std::string_view content);

  static constexpr char kAlert = 21;
  static constexpr char kHandshake = 22;
  static constexpr char kData = 23;

 private:
  SSL_CTX* context_;
  SSL* ssl_;
  BIO* in_;
  BIO* out_;
  std::uint64_t sealed_ = 0;
};

// A self-signed certificate with an RSA key of this length.
CertificatePair RsaCertificate(unsigned bits);

// The first records of a handshake again, with only four bytes, and then one byte, in each record.
std::string InPieces(std::string_view records);

}  // namespace http::test
