#pragma once

// A digest of bytes: to know a secret again without keeping it. Any thread.

#include <string>
#include <string_view>

namespace http {

// 32 bytes.
std::string Sha256(std::string_view bytes);

}  // namespace http
