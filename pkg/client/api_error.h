#pragma once

// Turns an API server's refusal (HTTP status, Retry-After and a Status body) into a base::Error
// (apimachinery v0.36.3, pkg/api/errors/errors.go). ErrorFromAnswer() is declared in api_client.h.
// A longer Retry-After than a minute becomes a minute. Any thread.

#include <optional>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/client/api_client.h"

namespace client {

// Returns the Error if a 2xx body is a Status of Failure; nullopt for every other body. Only small
// bodies are parsed: a Status is never large.
std::optional<base::Error> FailureInSuccess(std::string_view verb, std::string_view path,
                                            std::string_view body);

// True if the server will refuse the request again, until somebody changes a right or a policy. 401
// is about our credentials, and 429 about the load; 404 and 409 tell that the object has changed.
bool IsRefusedForGood(const base::Error& error);

// True if a creation was refused because its namespace is being deleted.
bool IsTerminating(const base::Error& error);

}  // namespace client
