#include "cmd/sandbox-apiserver/api_handler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cmd/sandbox-apiserver/discovery.h"
#include "cmd/sandbox-apiserver/responses.h"

namespace sandbox {
namespace {

constexpr std::array<std::string_view, 3> kHealthPaths{"healthz", "livez", "readyz"};

json::Value VersionInfo() {
  return json::Object{
      {"major", "1"},    {"minor", "36"},           {"gitVersion", "v1.36.0+sandbox"},
      {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
      {"goVersion", ""}, {"compiler", "g++"},       {"platform", "linux/amd64"}};
}

// The whole of a group list has a tag, so that a client that has it already gets 304.
http::Response TaggedResponse(const http::Request& request, const json::Value& document) {
  http::Response response = JsonResponse(200, document);
  const std::string tag = EntityTag(response.body);
  if (request.headers.Get("If-None-Match") == tag) {
    response.status = 304;
    response.body.clear();
  }
  response.headers.Set("Content-Type", kAggregatedContentType);
  response.headers.Set("ETag", tag);
  response.headers.Set("Vary", "Accept");
  response.headers.Set("Cache-Control", "public");
  return response;
}

// True if the type has the scope and the subresource of the path.
bool Fits(const ResourceType& type, const ResourcePath& path, Verb verb) {
  if (!type.namespaced && !path.ns.empty()) return false;
  if (type.namespaced && path.ns.empty()) {
    const bool anywhere = verb == Verb::kList || verb == Verb::kWatch || type.create_only;
    if (!anywhere) return false;
  }
  if (path.subresource.empty()) return true;
  if (path.subresource == "status") return type.status;
  if (path.subresource == "finalize") return type.IsCore("namespaces");
  return path.subresource == "resize" && type.IsCore("pods");
}

bool Allows(const ResourceType& type, const ResourcePath& path, Verb verb) {
  if (path.subresource.empty()) return type.HasVerb(ToString(verb));
  if (verb == Verb::kUpdate) return true;
  return path.subresource != "finalize" && (verb == Verb::kGet || verb == Verb::kPatch);
}

Shape ShapeOf(Verb verb) {
  const bool list = verb == Verb::kList || verb == Verb::kDeleteCollection;
  return list ? Shape::kList : Shape::kSingle;
}

}  // namespace

ApiHandler::ApiHandler(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                       ApiHandlerOptions options)
    : options_(std::move(options)),
      authenticator_(options_.auth),
      store_(registry_, scheduler, options_.store),
      webhooks_(std::move(executor), scheduler, store_.objects()),
      resources_(store_, webhooks_, scheduler),
      watches_(store_.objects(), scheduler, options_.watches),
      faults_(store_.objects(), watches_, scheduler),
      work_(scheduler.NewAlarm()) {
  store_.background().OnWork([this] { work_->Wake(); });
}

base::Task<void> ApiHandler::RunBackground() {
  co_await base::DeferCancellation();
  while (true) {
    const bool stopping = co_await base::Stopping();
    if (stopping) co_return;
    store_.background().RunDue();
    co_await work_->WaitUntil(store_.background().NextDue().value_or(base::TimePoint::max()));
  }
}

void ApiHandler::Decorate(const http::Request& request, http::Response& response) {
  const std::string_view audit = request.headers.Get("Audit-Id");
  response.headers.Set("Audit-Id", audit.empty() ? "00000000-0000-4000-8000-000000000000" : audit);
  if (!response.headers.Has("Cache-Control")) {
    response.headers.Set("Cache-Control", "no-cache, private");
  }
}

base::Task<void> ApiHandler::Send(const http::Request& request, http::Response response,
                                  http::ResponseWriter& writer) {
  Decorate(request, response);
  co_await writer.Send(std::move(response));
}

base::Task<void> ApiHandler::Handle(http::Request request, http::Peer peer,
                                    http::ResponseWriter& writer) {
  co_await base::DeferCancellation();
  base::Result<http::Target> target = http::ParseTarget(request.target);
  std::optional<http::Response> response;
  if (!target) {
    response = PlainText(400, "400 Bad Request: " + target.error().message + "\n");
    co_await Send(request, *std::move(response), writer);
    co_return;
  }
  response = AnswerPublic(*target);
  std::optional<User> user = authenticator_.Authenticate(request.headers, peer);
  if (!response && !user) response = StatusResponse(api::Unauthorized());
  if (!response) response = AnswerAdmin(request, *target);
  if (!response) response = AnswerAway(*target);
  if (!response) response = AnswerDiscovery(request, *target);
  const std::optional<ResourcePath> path = ParseResourcePath(target->segments);
  if (!response && !path) response = PageNotFound();
  if (response) {
    co_await Send(request, *std::move(response), writer);
    co_return;
  }
  Exchange exchange{std::move(request), *std::move(target), *std::move(user)};
  exchange.path = *path;
  co_await ServeResource(exchange, writer);
}

std::optional<http::Response> ApiHandler::AnswerPublic(const http::Target& target) const {
  if (target.segments.empty()) return std::nullopt;
  const std::string& first = target.segments.front();
  if (std::find(kHealthPaths.begin(), kHealthPaths.end(), first) != kHealthPaths.end()) {
    return PlainText(200, "ok");
  }
  if (first == "version" && target.segments.size() == 1) return JsonResponse(200, VersionInfo());
  return std::nullopt;
}

std::optional<http::Response> ApiHandler::AnswerAway(const http::Target& target) const {
  const std::vector<std::string>& path = target.segments;
  if (path.size() < 3 || path[0] != "apis") return std::nullopt;
  if (!faults_.stale_groups().contains(path[1])) return std::nullopt;
  return PlainText(503, "service unavailable\n");
}

std::optional<http::Response> ApiHandler::AnswerDiscovery(const http::Request& request,
                                                          const http::Target& target) const {
  if (request.method != "GET") return std::nullopt;
  const std::optional<json::Value> document =
      Describe(registry_, faults_.stale_groups(), target.segments);
  if (!document) return std::nullopt;
  return target.segments.size() == 1 ? TaggedResponse(request, *document)
                                     : JsonResponse(200, *document);
}

std::optional<http::Response> ApiHandler::AnswerAdmin(const http::Request& request,
                                                      const http::Target& target) {
  const std::vector<std::string>& path = target.segments;
  if (path.size() != 2 || path[0] != "sandbox") return std::nullopt;
  if (path[1] == "faults") return faults_.Answer(request);
  if (path[1] != "requests") return std::nullopt;
  if (request.method == "DELETE") counts_.Clear();
  return JsonResponse(200,
                      json::Object{{"requests", counts_.Describe()},
                                   {"openWatches", static_cast<std::uint64_t>(watches_.open())}});
}

std::optional<http::Response> ApiHandler::Check(Exchange& exchange) const {
  const ResourcePath& path = exchange.path;
  exchange.type = registry_.Find(path.gvr.group, path.gvr.version, path.gvr.resource);
  if (!exchange.type) return PageNotFound();
  const std::optional<Verb> verb = VerbOf(exchange.request.method, path, exchange.target);
  const api::Status not_allowed =
      StatusOfCode(405, "the server does not allow this method on the requested resource");
  if (!verb) return StatusResponse(not_allowed);
  exchange.verb = *verb;
  if (!Fits(*exchange.type, path, *verb)) return PageNotFound();
  if (!Allows(*exchange.type, path, *verb)) return StatusResponse(not_allowed);
  const std::optional<Form> form =
      Negotiate(exchange.request.headers.Get("Accept"), ShapeOf(*verb));
  if (!form) return StatusResponse(api::NotAcceptable({"application/json"}));
  exchange.form = *form;
  if (exchange.request.body.size() > options_.max_body_bytes) {
    return StatusResponse(
        api::RequestEntityTooLarge("limit is " + std::to_string(options_.max_body_bytes)));
  }
  return std::nullopt;
}

base::Task<void> ApiHandler::ServeResource(Exchange& exchange, http::ResponseWriter& writer) {
  std::optional<http::Response> response = Check(exchange);
  if (response) {
    if (exchange.type) counts_.Add(exchange.verb, exchange.path, response->status);
    co_await Send(exchange.request, *std::move(response), writer);
    co_return;
  }
  const std::optional<Fault> fault = faults_.Take(exchange.verb, exchange.path);
  const bool answered = fault && fault->kind == FaultKind::kAnswer;
  if (exchange.verb == Verb::kWatch && !fault) {
    const int code = co_await watches_.Serve(exchange, writer);
    counts_.Add(exchange.verb, exchange.path, code);
    co_return;
  }
  if (answered) {
    response = FaultInjector::AnswerOf(*fault);
  } else if (exchange.verb == Verb::kWatch) {
    response = JsonText(200, "");  // its body is about to be replaced
  } else {
    response = co_await Produce(exchange);
  }
  Decorate(exchange.request, *response);
  counts_.Add(exchange.verb, exchange.path, response->status);
  if (fault && !answered) {
    co_await faults_.Send(*std::move(response), *fault, writer);
  } else {
    co_await writer.Send(*std::move(response));
  }
}

base::Task<http::Response> ApiHandler::Produce(const Exchange& exchange) {
  if (exchange.type->create_only) co_return AnswerReviewRequest(exchange);
  co_return co_await resources_.Handle(exchange);
}

http::Response ApiHandler::AnswerReviewRequest(const Exchange& exchange) const {
  Outcome<json::Value> body = BodyOf(exchange);
  if (!body) return StatusResponse(body.error());
  json::Value answer =
      AnswerReview(authenticator_, exchange.user, exchange.path.gvr.resource, *std::move(body));
  answer.Make({"kind"}) = exchange.type->kind;
  answer.Make({"apiVersion"}) = exchange.type->ApiVersion();
  return JsonResponse(201, answer);
}

}  // namespace sandbox
