#pragma once

// HTTP responses as an API server writes them: JSON bodies with their headers, and Status objects
// for failed requests. Values; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/outcome.h"
#include "pkg/http/message.h"
#include "pkg/json/value.h"

namespace sandbox {

// `body` is JSON text without a line end.
http::Response JsonText(int status, std::string body);
http::Response JsonResponse(int status, const json::Value& body);
http::Response PlainText(int status, std::string_view body);
// Adds Retry-After if the Status has a time.
http::Response StatusResponse(const api::Status& status);
// The answer to an unknown path.
http::Response PageNotFound();

// A Warning header for each text.
void AddWarnings(http::Headers& headers, const std::vector<std::string>& warnings);

// A Status of this code, with the reason that usually goes with it.
api::Status StatusOfCode(int code, std::string_view message);

}  // namespace sandbox
