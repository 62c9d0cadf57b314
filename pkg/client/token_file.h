#pragma once

// A bearer token in a file that somebody rewrites (kubelet, before it expires). Read again about
// every 50 s, and at once after the server refused it; while it cannot be read the last good token
// stays in use (client-go v0.36.3, transport/token_source.go). One thread.

#include <cstdint>
#include <optional>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace client {

class TokenFile {
 public:
  // `initial` is used until the file is first read; "" for none.
  TokenFile(std::string path, std::string initial);

  // Errors: only when no good token was ever known.
  base::Result<std::string> Get(base::TimePoint now);
  // Counts the different tokens seen: tells whether a refused token is still the one in use.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // The next Get() reads the file.
  void Expire() { due_.reset(); }

 private:
  std::string path_;
  std::string token_;
  std::uint64_t generation_ = 0;
  std::optional<base::TimePoint> due_;  // when the file is to be read again; nullopt: now
};

}  // namespace client
