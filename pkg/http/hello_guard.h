#pragma once

// Internal to pkg/http. Checks the first bytes of a TLS handshake before OpenSSL sees them, for a
// server. OpenSSL allocates memory for a whole ClientHello when it has read the announced length,
// up to 128 KiB for each connection. Hellos of regular clients have at most 2 kB, so longer ones
// are refused. No client is asked for a second hello (HelloRetryRequest, RFC 8446 section 4.1.4),
// because its length would not be checked: a client whose first hello has no key share for X25519
// or P-256 that we can use is refused.
//
// No I/O; one connection.

#include <array>
#include <cstddef>
#include <string_view>

namespace http {

class HelloGuard {
 public:
  static constexpr std::size_t kMaxHelloBytes = std::size_t{16} << 10;

  // Bytes from the client, in order. False: they begin a hello that is too long, or is split so
  // that its length is hidden.
  bool Receive(std::string_view bytes);
  // Bytes of the server's first answer. False: it asks for another hello.
  bool Send(std::string_view bytes);

 private:
  // The heads of the record (type, version, length) and of the message in it (type, length).
  static constexpr std::size_t kHeads = 5 + 4;
  std::array<unsigned char, kHeads> heads_{};
  std::size_t seen_ = 0;
  bool answered_ = false;
};

}  // namespace http
