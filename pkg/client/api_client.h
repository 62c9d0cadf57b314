#pragma once

// One request to an API server, and its answer: what informers, controllers and tests ask through.
// RestClient (pkg/client/rest_client.h) is the real one; tests script their own.
//
// An answer outside 2xx, and a 2xx body that is a Status of Failure, is an Error whose code follows
// the Status reason and whose message names verb, path, reason and the server's words.
//
// Single-threaded.

#include <chrono>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/http/client.h"
#include "pkg/http/message.h"
#include "pkg/json/value.h"

namespace client {

struct ApiRequest {
  std::string verb = "GET";  // the HTTP method
  std::string path;          // below the server's prefix: "/api/v1/pods"
  http::Query query;
  std::string accept = "application/json";
  std::string content_type;  // "" without a body
  std::string body;
  std::chrono::milliseconds timeout{
      30'000};                // Do(): everything, retries included; Stream(): until the headers
  std::string if_none_match;  // an ETag; then a 304 is an answer, without a body, and no error
};

// The parts of a whole answer that callers use.
struct ApiResponse {
  int status = 0;
  http::Headers headers;
  std::string body;
};

class ApiClient {
 public:
  virtual ~ApiClient() = default;
  // Retries what is safe to repeat (client-go v0.36.3, rest/with_retry.go) within the timeout.
  virtual base::Task<base::Result<ApiResponse>> Do(ApiRequest request) = 0;
  // Opens a body to be read piece by piece: a watch, or a large list. Not retried, never gzip for
  // a watch (a query parameter watch=1 or watch=true).
  virtual base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      ApiRequest request) = 0;
};

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kJsonPatch = "application/json-patch+json";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

// Do() with a JSON body in and out. Errors: also kMalformed, naming verb and path, when the answer
// is no JSON object.
base::Task<base::Result<json::Value>> DoJson(ApiClient& client, ApiRequest request);

// The Error of an answer outside 2xx; `retry_after` is the header's value, "" if absent.
base::Error ErrorFromAnswer(std::string_view verb, std::string_view path, int status,
                            std::string_view retry_after, std::string_view body);

}  // namespace client
