#pragma once

// One request to an API server, and its answer. Informers, controllers and tests send requests
// through this interface. RestClient (pkg/client/rest_client.h) is the real one; tests script their
// own.
//
// An answer outside 2xx, or a 2xx body that is a Status of Failure, is an Error. Its code follows
// the Status reason; its message has the verb, the path, the reason and the server's message.
//
// Single-threaded.

#include <chrono>
#include <memory>
#include <optional>
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
  std::string content_type;  // "" if there is no body
  std::string body;
  std::chrono::milliseconds timeout{
      30'000};  // everything, with retries; of Stream() only until headers, or a refusal
  std::string if_none_match;  // an ETag; a 304 is then an answer without a body, not an error
  // Of an answer of Do(); nullopt: as for one object (http::ClientOptions).
  std::optional<std::size_t> max_answer_bytes{};
};

// The parts of a complete answer that callers use.
struct ApiResponse {
  int status = 0;
  http::Headers headers;
  std::string body;
};

class ApiClient {
 public:
  virtual ~ApiClient() = default;
  // Retries safe requests within the timeout (client-go v0.36.3, rest/with_retry.go).
  virtual base::Task<base::Result<ApiResponse>> Do(ApiRequest request) = 0;
  // Opens a body to be read piece by piece: a watch, or a large list. Retries before the body
  // begins, as Do(). A watch (a query parameter watch=1 or watch=true) has no retries and no gzip.
  virtual base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      ApiRequest request) = 0;
};

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kJsonPatch = "application/json-patch+json";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

// A request for the metadata of the object of this name, as a list of at most one: it needs the
// right to list, which counting the kind needs as well, and none to get. The list is consistent,
// because it names no version. REQUIRES: the name may be part of a selector.
ApiRequest ListMetadataOf(std::string collection, const std::string& name,
                          std::chrono::milliseconds timeout);

// Do() with a JSON body in the request and in the answer. Errors: also kMalformed, naming verb and
// path, if the answer is not a JSON object.
base::Task<base::Result<json::Value>> DoJson(ApiClient& client, ApiRequest request);

// Returns the Error for an answer outside 2xx. `retry_after` is the header's value, "" if absent.
base::Error ErrorFromAnswer(std::string_view verb, std::string_view path, int status,
                            std::string_view retry_after, std::string_view body);

}  // namespace client
