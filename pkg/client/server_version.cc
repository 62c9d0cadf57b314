#include "pkg/client/server_version.h"

namespace client {

base::Task<base::Result<api::KubernetesVersion>> ReadServerVersion(ApiClient& client) {
  ApiRequest request;
  request.path = "/version";
  const auto answer = co_await DoJson(client, std::move(request));
  if (!answer) co_return answer.error();
  co_return api::ParseKubernetesVersion(*answer);
}

}  // namespace client
