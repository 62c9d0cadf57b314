#pragma once

// Internal to pkg/http. Formats the heads of messages.

#include <cstdint>
#include <optional>
#include <string>

#include "pkg/http/message.h"

namespace http {

// What follows the head.
struct Framing {
  bool chunked = false;
  std::optional<std::size_t> content_length;
};

// The message's own Content-Length, Transfer-Encoding and Connection fields are replaced by those
// of `framing`. Line breaks in names and values become spaces, so that a value cannot add a field.
std::string FormatHead(const Request& request, const Framing& framing);
std::string FormatHead(int status, const Headers& headers, const Framing& framing, bool keep_alive);

// "<size>\r\n<bytes>\r\n". REQUIRES: not empty.
std::string FormatChunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string_view ReasonPhrase(int status);

}  // namespace http
