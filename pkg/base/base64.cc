#include "pkg/base/base64.h"

#include <algorithm>
#include <cstdint>

namespace base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Error Bad(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .message = std::move(message)};
}

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    const std::size_t value = kAlphabet.find(c);
    if (c == '=' ? digits % 4 < 2 : (value == std::string_view::npos || padding > 0)) {
      return Bad("not valid base64 at byte " + std::to_string(i));
    }
    if (c == '=') ++padding;
    group = group << 6 | static_cast<std::uint32_t>(c == '=' ? 0 : value);
    if (++digits % 4 != 0) continue;
    for (std::size_t byte = 0; byte + padding < 3; ++byte) {
      bytes.push_back(static_cast<char>(group >> (16 - 8 * byte) & 0xFF));
    }
    group = 0;
  }
  if (digits % 4 != 0) return Bad("not valid base64: the end is missing");
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text.push_back(j <= count ? kAlphabet[group >> (18 - 6 * j) & 0x3F] : '=');
    }
  }
  return text;
}

}  // namespace base
