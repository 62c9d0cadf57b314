#pragma once

// Internal to pkg/http. Bounds what a peer can make OpenSSL do without sending application data.
// OpenSSL handles such records (key updates, session tickets, hellos, alerts, empty records) in a
// loop of its own until data arrives or the socket is empty. A record of 27 bytes costs 11 us, and
// a peer sends them faster than that.
//
// Each record and each handshake message in it counts as 2 KiB. In a handshake up to 512 KiB are
// allowed: a certificate chain of 32 KiB in the smallest records that TLS knows (RFC 6066 section
// 4) needs a quarter of that. Later a peer may owe up to 64 KiB: every application byte pays for
// one. A regular peer sends a few session tickets at the beginning, and a key update after
// gigabytes. crypto/tls of Go allows 16 such records in a row.
//
// No I/O; one connection.

#include <algorithm>
#include <cstddef>

namespace http {

class RecordGuard {
 public:
  static constexpr std::size_t kRecord = std::size_t{2} << 10;
  static constexpr std::size_t kMostInHandshake = std::size_t{512} << 10;
  static constexpr std::size_t kMostOwed = std::size_t{64} << 10;

  // A record, or a handshake message in it, has arrived. False: that is too many.
  [[nodiscard]] bool OnRecord() { return (owed_ += kRecord) <= most_; }
  void OnHandshakeDone() {
    owed_ = 0;
    most_ = kMostOwed;
  }
  // Application data was read: at least a byte, and at most one record.
  void OnData(std::size_t bytes) { owed_ -= std::min(owed_, kRecord + bytes); }

 private:
  std::size_t owed_ = 0;
  std::size_t most_ = kMostInHandshake;
};

}  // namespace http
