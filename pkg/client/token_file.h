#pragma once

// A bearer token in a file that is rewritten (by the kubelet, before the token expires). It is read
// about every 50 s, and at once after the server rejected the token. While it cannot be read, the
// last good token is used (client-go v0.36.3, transport/token_source.go). One thread.

#include <cstdint>
#include <optional>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/base/reminder.h"

namespace client {

class TokenFile {
 public:
  // `initial` is used until the file is first read; "" for none.
  TokenFile(std::string path, std::string initial);

  // Errors: only if there never was a good token.
  base::Result<std::string> Get(base::TimePoint now);
  // Counts the different tokens so far: tells whether a rejected token is still in use.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // The next Get() reads the file.
  void Expire() { due_.reset(); }

 private:
  std::string path_;
  std::string token_;
  std::uint64_t generation_ = 0;
  std::optional<base::TimePoint> due_;  // when to read the file again; nullopt: now
  base::Reminder unreadable_;
};

}  // namespace client
