#include "pkg/debug/endpoints.h"

namespace debug {
namespace {

http::Response PlainText(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

http::Response Metrics(metrics::Registry& registry) {
  return {.status = 200,
          .headers = {{"Content-Type", std::string(metrics::kTextFormat)}},
          .body = registry.Expose()};
}

}  // namespace

http::Response Answer(const Endpoints& endpoints, const http::Request& request) {
  const base::Result<http::Target> target = http::ParseTarget(request.target);
  if (!target) return PlainText(400, target.error().message + "\n");
  const bool health = endpoints.health != nullptr && endpoints.health->Handles(*target);
  const bool metrics = endpoints.metrics != nullptr && target->segments.size() == 1 &&
                       target->segments[0] == "metrics";
  if (!health && !metrics) return PlainText(404, "404 page not found\n");
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response response = PlainText(405, "405 method not allowed\n");
    response.headers.Set("Allow", "GET, HEAD");
    return response;
  }
  if (health) return endpoints.health->Answer(*target);
  return Metrics(*endpoints.metrics);
}

http::Handler NewHandler(Endpoints endpoints) {
  return [endpoints](http::Request request, http::Peer,
                     http::ResponseWriter& writer) -> base::Task<void> {
    http::Response response = Answer(endpoints, request);
    // A client that has gone meanwhile needs no answer.
    (void)co_await writer.Send(std::move(response));
  };
}

}  // namespace debug
