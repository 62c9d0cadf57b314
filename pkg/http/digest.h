#pragma once

// A digest of bytes: recognizes a secret without storing it. Any thread.

#include <string>
#include <string_view>

namespace http {

// Returns 32 bytes.
std::string Sha256(std::string_view bytes);

}  // namespace http
