#pragma once

// Standard base64 (RFC 4648, padded), the format of kubeconfig fields ending in -data and of a
// webhook's caBundle. Any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace base {

// Skips line breaks. Errors: kInvalidArgument, with the offset. The text is never quoted: it may be
// a key.
Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace base
