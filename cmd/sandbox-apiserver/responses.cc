#include "cmd/sandbox-apiserver/responses.h"

namespace sandbox {
namespace {

std::string_view ReasonOf(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Expired";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "";
  }
}

}  // namespace

http::Response JsonText(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "application/json");
  response.body = std::move(body);
  response.body.push_back('\n');
  return response;
}

http::Response JsonResponse(int status, const json::Value& body) {
  return JsonText(status, json::Write(body));
}

http::Response PlainText(int status, std::string_view body) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "text/plain; charset=utf-8");
  response.headers.Set("X-Content-Type-Options", "nosniff");
  response.body = body;
  return response;
}

http::Response StatusResponse(const api::Status& status) {
  http::Response response = JsonResponse(status.code, status.ToJson());
  response.headers.Set("X-Content-Type-Options", "nosniff");
  if (status.retry_after_seconds > 0) {
    response.headers.Set("Retry-After", std::to_string(status.retry_after_seconds));
  }
  return response;
}

http::Response PageNotFound() { return PlainText(404, "404 page not found\n"); }

void AddWarnings(http::Headers& headers, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    headers.Add("Warning", "299 - " + json::Quote(warning));
  }
}

api::Status StatusOfCode(int code, std::string_view message) {
  api::Status status;
  status.code = code;
  status.reason = ReasonOf(code);
  status.message = message;
  return status;
}

}  // namespace sandbox
