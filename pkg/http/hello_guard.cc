#include "pkg/http/hello_guard.h"

#include <algorithm>

namespace http {
namespace {

constexpr unsigned char kHandshakeRecord = 22;
constexpr unsigned char kServerHello = 2;
constexpr std::size_t kRecordHead = 5;
constexpr std::size_t kMessageHead = 4;
constexpr std::size_t kVersion = 2;

// The "random" value that marks a ServerHello as a HelloRetryRequest.
constexpr std::string_view kRetry(
    "\xCF\x21\xAD\x74\xE5\x9A\x61\x11\xBE\x1D\x8C\x02\x1E\x65\xB8\x91"
    "\xC2\xA2\x11\x16\x7A\xBB\x8C\x5E\x07\x9E\x09\xE2\xC8\xA8\x33\x9C");

}  // namespace

bool HelloGuard::Receive(std::string_view bytes) {
  if (seen_ == kHeads) return true;
  const std::size_t more = std::min(bytes.size(), kHeads - seen_);
  std::copy_n(bytes.begin(), more, heads_.begin() + static_cast<std::ptrdiff_t>(seen_));
  seen_ += more;
  // Anything that is not a handshake is left to OpenSSL.
  if (seen_ < kHeads || heads_[0] != kHandshakeRecord) return true;
  const std::size_t record = std::size_t{heads_[3]} << 8 | heads_[4];
  const std::size_t hello = std::size_t{heads_[6]} << 16 | std::size_t{heads_[7]} << 8 | heads_[8];
  return record >= kMessageHead && hello <= kMaxHelloBytes;
}

bool HelloGuard::Send(std::string_view bytes) {
  if (answered_) return true;
  answered_ = true;
  constexpr std::size_t kRandomAt = kRecordHead + kMessageHead + kVersion;
  if (bytes.size() < kRandomAt + kRetry.size()) return true;
  const bool hello = static_cast<unsigned char>(bytes[0]) == kHandshakeRecord &&
                     static_cast<unsigned char>(bytes[kRecordHead]) == kServerHello;
  return !hello || bytes.substr(kRandomAt, kRetry.size()) != kRetry;
}

}  // namespace http
