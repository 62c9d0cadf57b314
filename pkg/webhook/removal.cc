#include "pkg/webhook/removal.h"

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/webhook/ownership.h"

namespace webhook {
namespace {

// Deletes only the version that was read: it may be somebody else's since.
client::ApiRequest DeletionOf(const json::Value& object, const std::string& path) {
  json::Value options = json::Object{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  options.Make({"preconditions"}) =
      json::Object{{"uid", std::string(api::Uid(object))},
                   {"resourceVersion", std::string(api::ResourceVersion(object))}};
  client::ApiRequest request;
  request.verb = "DELETE";
  request.path = path;
  request.content_type = client::kJson;
  request.body = json::Write(options);
  return request;
}

}  // namespace

base::Task<base::Result<Removal>> RemoveOurs(client::ApiClient& client, std::string path,
                                             std::string installation,
                                             std::chrono::milliseconds timeout) {
  using Kind = Removal::Kind;
  client::ApiRequest look{.path = path, .timeout = timeout};
  const auto object = co_await client::DoJson(client, std::move(look));
  if (!object && object.error().Is(base::ErrorCode::kNotFound)) co_return Removal{};
  if (!object) co_return object.error();
  if (!HasOurLabel(*object)) co_return Removal{Kind::kNotOurs, ""};
  std::string other(InstallationOf(*object));
  if (!other.empty() && other != installation) {
    co_return Removal{Kind::kAnothers, std::move(other)};
  }
  client::ApiRequest request = DeletionOf(*object, path);
  request.timeout = timeout;
  const auto deleted = co_await client.Do(std::move(request));
  if (!deleted && !deleted.error().Is(base::ErrorCode::kNotFound)) co_return deleted.error();
  co_return Removal{Kind::kDeleted, ""};
}

}  // namespace webhook
