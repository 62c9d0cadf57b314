#pragma once

// Internal to pkg/http. Looks at the first bytes of a TLS handshake before OpenSSL does, for a
// server. OpenSSL takes memory for a whole hello when it has seen its announced length, up to 128
// KiB for each connection; hellos of good will have 2 kB at most. So longer ones are not let
// through, and no client is asked for a second one (HelloRetryRequest, RFC 8446 section 4.1.4),
// whose length nobody would look at: clients whose first hello has no key for X25519 or P-256 that
// we could use are turned away.
//
// No I/O; one connection.

#include <array>
#include <cstddef>
#include <string_view>

namespace http {

class HelloGuard {
 public:
  static constexpr std::size_t kMaxHelloBytes = std::size_t{16} << 10;

  // Bytes from the client, in order. False: they begin a hello that is too long, or in pieces that
  // hide its length.
  bool Receive(std::string_view bytes);
  // The server's first answer. False: it asks for another hello.
  bool Send(std::string_view bytes);

 private:
  // Of a record: type, version, length; of the message in it: type, length.
  static constexpr std::size_t kHeads = 5 + 4;
  std::array<unsigned char, kHeads> heads_{};
  std::size_t seen_ = 0;
  bool answered_ = false;
};

}  // namespace http
