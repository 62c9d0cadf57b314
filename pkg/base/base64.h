#pragma once

// Standard base64 (RFC 4648, padded), as kubeconfig fields ending in -data and
// the caBundle of webhooks hold it. Any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace base {

// Line breaks are skipped. Errors: kInvalidArgument, saying where; the text itself is never quoted,
// it may be a key.
Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace base
