#include "informers/collection_requests.h"

#include <algorithm>

namespace informers {
namespace {

// Nothing beyond metadata is wanted, so nothing else need be sent.
bool MetadataOnly(const ReflectorOptions& options) {
  return std::all_of(options.fields.begin(), options.fields.end(),
                     [](const std::string& path) { return path.starts_with("metadata."); });
}

// Servers that do not know the reduced form answer with plain JSON.
std::string Accept(const ReflectorOptions& options, std::string_view reduced) {
  if (!MetadataOnly(options)) return std::string(client::kJson);
  return "application/json;as=" + std::string(reduced) + ";g=meta.k8s.io;v=v1,application/json";
}

void Select(const ReflectorOptions& options, client::ApiRequest& request) {
  if (options.field_selector.empty()) return;
  request.query.emplace_back("fieldSelector", options.field_selector);
}

}  // namespace

client::ApiRequest ListRequest(const ReflectorOptions& options, const std::string& continue_token) {
  client::ApiRequest request;
  request.path = options.resource.Path();
  request.accept = Accept(options, "PartialObjectMetadataList");
  request.query = {{"limit", std::to_string(options.page_size)}};
  if (!continue_token.empty()) request.query.emplace_back("continue", continue_token);
  Select(options, request);
  return request;
}

client::ApiRequest WatchRequest(const ReflectorOptions& options, const std::string& version,
                                std::chrono::seconds timeout) {
  client::ApiRequest request;
  request.path = options.resource.Path();
  request.accept = Accept(options, "PartialObjectMetadata");
  request.query = {{"watch", "1"},
                   {"allowWatchBookmarks", "true"},
                   {"resourceVersion", version},
                   {"timeoutSeconds", std::to_string(timeout.count())}};
  Select(options, request);
  return request;
}

json::Projection ObjectFields(const ReflectorOptions& options) {
  std::vector<std::string> paths = options.fields;
  for (const char* path :
       {"metadata.uid", "metadata.name", "metadata.namespace", "metadata.resourceVersion"}) {
    paths.emplace_back(path);
  }
  return json::Projection(paths);
}

}  // namespace informers
