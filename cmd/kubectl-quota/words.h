#pragma once

// Error texts as kubectl prints them. Pure; any thread.

#include <string>

#include "pkg/base/error.h"

namespace kubectl_quota {

// Returns the server's message without verb, path and code; the error's own text if there is none.
std::string ServerWords(const base::Error& error);

// "Error from server (Forbidden): resourcequotas is forbidden: …",
// "Unable to connect to the server: …", "error: …".
std::string ErrorText(const base::Error& error);

}  // namespace kubectl_quota
