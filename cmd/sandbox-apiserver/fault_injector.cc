#include "cmd/sandbox-apiserver/fault_injector.h"

#include <algorithm>
#include <utility>

#include "cmd/sandbox-apiserver/responses.h"

namespace sandbox {

http::Response FaultInjector::Answer(const http::Request& request) {
  if (request.method == "DELETE") {
    table_.Clear();
    watches_.ClearDelays();
  }
  if (request.method == "POST") {
    base::Result<json::Value> body = json::Parse(request.body);
    if (!body) return StatusResponse(api::BadRequest(body.error().message));
    if (!body->IsArray()) body = json::Array{*body};
    // All are checked before the first is applied: an invalid request changes nothing.
    for (const json::Value& value : *body->AsArray()) {
      if (base::Result<Fault> fault = ParseFault(value); !fault) {
        return StatusResponse(api::BadRequest(fault.error().message));
      }
    }
    for (const json::Value& value : *body->AsArray()) Apply(ParseFault(value).value());
  }
  json::Array waiting;
  for (const Fault& fault : table_.waiting()) waiting.push_back(DescribeFault(fault));
  return JsonResponse(200, json::Object{{"faults", std::move(waiting)}});
}

void FaultInjector::Apply(const Fault& fault) {
  if (fault.IsWaiting()) {
    table_.Add(fault);
  } else if (fault.kind == FaultKind::kExpire) {
    watches_.CatchUp();
    objects_.ExpireHistory();
  } else if (fault.kind == FaultKind::kStaleGroup) {
    table_.AddStaleGroup(fault);
    Fault end{.kind = FaultKind::kDropWatches, .requests = {.group = fault.requests.group}};
    watches_.Inject(end);
  } else {
    watches_.Inject(fault);
  }
}

http::Response FaultInjector::AnswerOf(const Fault& fault) {
  api::Status status = StatusOfCode(fault.code, fault.message);
  if (!fault.reason.empty()) status.reason = fault.reason;
  if (status.message.empty()) status.message = "a fault was asked for";
  status.retry_after_seconds = fault.retry_after_seconds;
  return StatusResponse(status);
}

base::Task<void> FaultInjector::Send(http::Response response, Fault fault,
                                     http::ResponseWriter& writer) {
  if (fault.kind == FaultKind::kReplaceBody) {
    response.body = fault.body;
    if (fault.code != 0) response.status = fault.code;
    if (!fault.content_type.empty()) response.headers.Set("Content-Type", fault.content_type);
  }
  if (fault.kind != FaultKind::kSlowBody && fault.kind != FaultKind::kTruncateBody) {
    co_await writer.Send(std::move(response));
    co_return;
  }
  base::Result<void> sent = co_await writer.Start(response.status, response.headers);
  if (fault.kind == FaultKind::kTruncateBody) {
    std::string beginning = response.body.substr(0, fault.bytes);
    if (sent) sent = co_await writer.Write(std::move(beginning));
    writer.Abort(false);
    co_return;
  }
  const std::size_t piece = std::max<std::size_t>(fault.bytes, 1);
  for (std::size_t at = 0; sent && at < response.body.size(); at += piece) {
    const bool stopping = co_await base::Stopping();
    if (stopping) co_return;
    co_await scheduler_.Sleep(std::chrono::duration_cast<base::Duration>(fault.delay));
    std::string text = response.body.substr(at, piece);
    sent = co_await writer.Write(std::move(text));
  }
  if (sent) co_await writer.Finish();
}

}  // namespace sandbox
