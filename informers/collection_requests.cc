#include "informers/collection_requests.h"

#include <algorithm>

namespace informers {
namespace {

// How long a page may take to begin, with retries. An API server answers or refuses each request
// within a minute.
constexpr std::chrono::seconds kUntilPage{60};

void Select(const ReflectorOptions& options, client::ApiRequest& request) {
  if (!options.field_selector.empty()) {
    request.query.emplace_back("fieldSelector", options.field_selector);
  }
  if (!options.label_selector.empty()) {
    request.query.emplace_back("labelSelector", options.label_selector);
  }
}

}  // namespace

client::ApiRequest ListRequest(const ReflectorOptions& options, const ObjectDecoder& decoder,
                               const std::string& continue_token) {
  client::ApiRequest request;
  request.path = options.resource.Path(options.ns);
  request.accept = decoder.accept_list();
  request.timeout = std::min(options.list_page_timeout, kUntilPage);
  if (options.page_size > 0) request.query = {{"limit", std::to_string(options.page_size)}};
  if (!continue_token.empty()) request.query.emplace_back("continue", continue_token);
  Select(options, request);
  return request;
}

client::ApiRequest WatchRequest(const ReflectorOptions& options, const ObjectDecoder& decoder,
                                const std::string& version, std::chrono::seconds timeout) {
  client::ApiRequest request;
  request.path = options.resource.Path(options.ns);
  request.accept = decoder.accept_watch();
  request.query = {{"watch", "1"},
                   {"allowWatchBookmarks", "true"},
                   {"resourceVersion", version},
                   {"timeoutSeconds", std::to_string(timeout.count())}};
  Select(options, request);
  return request;
}

}  // namespace informers
