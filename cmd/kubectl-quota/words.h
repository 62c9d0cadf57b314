#pragma once

// Errors in the words that kubectl uses. Pure; any thread.

#include <string>

#include "pkg/base/error.h"

namespace kubectl_quota {

// What the server said, without verb, path and code; the error's own words if it said nothing.
std::string ServerWords(const base::Error& error);

// "Error from server (Forbidden): resourcequotas is forbidden: …",
// "Unable to connect to the server: …", "error: …".
std::string ErrorText(const base::Error& error);

}  // namespace kubectl_quota
