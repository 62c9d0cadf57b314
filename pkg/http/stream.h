#pragma once

// Internal to pkg/http. A byte stream that never waits: each call does what is possible now, or
// says what to wait for. Sockets are streams, and TLS is a stream over another stream, so TLS
// inside a proxy's TLS needs no extra code. Connection (connection.h) does the waiting.
//
// An idle stream holds no buffers, so hundreds of silent watches cost little.

#include <cstddef>
#include <span>
#include <string_view>

#include "pkg/base/error.h"

namespace http {

struct Attempt {
  enum class Kind { kDone, kEnd, kWantRead, kWantWrite, kFailed };
  Kind kind = Kind::kDone;
  std::size_t bytes = 0;  // kDone
  base::Error error;      // kFailed; names the peer

  static Attempt Done(std::size_t bytes) { return {Kind::kDone, bytes, {}}; }
  static Attempt Of(Kind kind) { return {kind, 0, {}}; }
  static Attempt Failed(base::Error error) { return {Kind::kFailed, 0, std::move(error)}; }
};

class Stream {
 public:
  virtual ~Stream() = default;
  // kEnd: the peer has ended its side cleanly.
  virtual Attempt TryRead(std::span<char> into) = 0;
  // True if the stream itself holds bytes that have arrived, so that TryRead() need not ask the
  // system first.
  [[nodiscard]] virtual bool HasPending() const { return false; }
  virtual Attempt TryWrite(std::string_view bytes) = 0;
  // Sets the stream up; called until kDone.
  virtual Attempt TryHandshake() = 0;
  // Sends the protocol's closing message, if it has one. Best effort.
  virtual void TryGoodbye() = 0;
};

}  // namespace http
