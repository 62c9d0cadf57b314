#include "pkg/client/api_client.h"

namespace client {

ApiRequest ListMetadataOf(std::string collection, const std::string& name,
                          std::chrono::milliseconds timeout) {
  return {
      .path = std::move(collection),
      .query = {{"fieldSelector", "metadata.name=" + name}, {"limit", "1"}},
      .accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
      .timeout = timeout};
}

base::Task<base::Result<json::Value>> DoJson(ApiClient& client, ApiRequest request) {
  const std::string action = request.verb + " " + request.path;
  base::Result<ApiResponse> answer = co_await client.Do(std::move(request));
  if (!answer) co_return answer.error();
  base::Result<json::Value> value = json::Parse(answer->body);
  if (!value) co_return value.error().Wrap(action + ": the answer does not parse");
  if (!value->IsObject()) {
    co_return base::Error{.code = base::ErrorCode::kMalformed,
                          .message = action + ": the answer is not a JSON object but of type " +
                                     std::string(value->TypeName())};
  }
  co_return value;
}

}  // namespace client
