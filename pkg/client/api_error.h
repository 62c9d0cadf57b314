#pragma once

// What an API server's refusal means: from HTTP status, Retry-After and a Status body to a
// base::Error (apimachinery v0.36.3, pkg/api/errors/errors.go). ErrorFromAnswer() is declared in
// api_client.h. Any thread.

#include <optional>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/client/api_client.h"

namespace client {

// The Error in a 2xx body that is a Status of Failure; nullopt for every other body. Only small
// bodies are looked into: a Status is never large.
std::optional<base::Error> FailureInSuccess(std::string_view verb, std::string_view path,
                                            std::string_view body);

}  // namespace client
