#include "pkg/api/status.h"
#include "pkg/base/text.h"

#include <glog/logging.h>

#include <algorithm>

namespace api {
namespace {

Status Failure(int code, std::string_view reason, std::string message, StatusDetails details = {}) {
  Status status;
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  status.details = std::move(details);
  return status;
}

StatusDetails About(const GroupResource& what, std::string_view name) {
  return {.name = std::string(name), .group = what.group, .kind = what.resource};
}

// `pods "x"`
std::string Named(const GroupResource& what, std::string_view name) {
  return what.ToString() + " " + json::Quote(name);
}

void SetUnlessEmpty(json::Object& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.Set(name, text);
}

json::Object CauseToJson(const StatusCause& cause) {
  json::Object object;
  SetUnlessEmpty(object, "reason", cause.reason);
  SetUnlessEmpty(object, "message", cause.message);
  SetUnlessEmpty(object, "field", cause.field);
  return object;
}

json::Object DetailsToJson(const StatusDetails& details, int retry_after_seconds) {
  json::Object object;
  SetUnlessEmpty(object, "name", details.name);
  SetUnlessEmpty(object, "group", details.group);
  SetUnlessEmpty(object, "kind", details.kind);
  SetUnlessEmpty(object, "uid", details.uid);
  if (!details.causes.empty()) {
    json::Array causes;
    for (const StatusCause& cause : details.causes) causes.push_back(CauseToJson(cause));
    object.Set("causes", std::move(causes));
  }
  if (retry_after_seconds > 0) object.Set("retryAfterSeconds", retry_after_seconds);
  return object;
}

StatusDetails ParseDetails(const json::Value& details) {
  StatusDetails parsed;
  parsed.name = details.StringAt({"name"});
  parsed.group = details.StringAt({"group"});
  parsed.kind = details.StringAt({"kind"});
  parsed.uid = details.StringAt({"uid"});
  const json::Value* causes = details.At({"causes"});
  if (causes == nullptr || !causes->IsArray()) return parsed;
  for (const json::Value& cause : *causes->AsArray()) {
    parsed.causes.push_back({.reason = std::string(cause.StringAt({"reason"})),
                             .message = std::string(cause.StringAt({"message"})),
                             .field = std::string(cause.StringAt({"field"}))});
  }
  return parsed;
}

int IntAt(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* number = value.At(path);
  const auto integer = number == nullptr ? std::nullopt : number->AsInt64();
  // Bounded, because a server may send any number.
  return static_cast<int>(std::clamp<std::int64_t>(integer.value_or(0), 0, 1'000'000'000));
}

}  // namespace

json::Value Status::ToJson() const {
  json::Object metadata;
  SetUnlessEmpty(metadata, "continue", continue_token);
  json::Object object{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", std::move(metadata)}};
  SetUnlessEmpty(object, "status", status);
  SetUnlessEmpty(object, "message", message);
  SetUnlessEmpty(object, "reason", reason);
  json::Object about = DetailsToJson(details, retry_after_seconds);
  if (!about.empty()) object.Set("details", std::move(about));
  if (code != 0) object.Set("code", code);
  return object;
}

std::optional<Status> ParseStatus(const json::Value& value) {
  const std::string_view version = value.StringAt({"apiVersion"});
  if (value.StringAt({"kind"}) != "Status" || (!version.empty() && version != "v1")) {
    return std::nullopt;
  }
  Status parsed;
  parsed.status = value.StringAt({"status"});
  parsed.code = IntAt(value, {"code"});
  parsed.reason = value.StringAt({"reason"});
  parsed.message = value.StringAt({"message"});
  parsed.retry_after_seconds = IntAt(value, {"details", "retryAfterSeconds"});
  parsed.continue_token = value.StringAt({"metadata", "continue"});
  if (const json::Value* details = value.At({"details"})) parsed.details = ParseDetails(*details);
  return parsed;
}

Status NotFound(const GroupResource& what, std::string_view name) {
  return Failure(404, "NotFound", Named(what, name) + " not found", About(what, name));
}

Status AlreadyExists(const GroupResource& what, std::string_view name) {
  return Failure(409, "AlreadyExists", Named(what, name) + " already exists", About(what, name));
}

Status Conflict(const GroupResource& what, std::string_view name, std::string_view why) {
  return Failure(409, "Conflict",
                 "Operation cannot be fulfilled on " + Named(what, name) + ": " + std::string(why),
                 About(what, name));
}

Status ModifiedConflict(const GroupResource& what, std::string_view name) {
  return Conflict(what, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Status Forbidden(const GroupResource& what, std::string_view name, std::string_view why) {
  std::string subject = "forbidden: ";
  if (!what.resource.empty()) {
    subject = (name.empty() ? what.ToString() : Named(what, name)) + " is forbidden: ";
  }
  return Failure(403, "Forbidden", subject + std::string(why), About(what, name));
}

Status Invalid(std::string_view group, std::string_view kind, std::string_view name,
               std::vector<StatusCause> causes) {
  std::vector<std::string> texts;
  for (const StatusCause& cause : causes) {
    std::string text = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    // Equal messages appear once; the causes keep all.
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  const GroupResource what{.group = std::string(group), .resource = std::string(kind)};
  std::string message = Named(what, name) + " is invalid";
  if (texts.size() == 1) message += ": " + texts.front();
  if (texts.size() > 1) message += ": [" + base::Join(texts, ", ") + "]";
  StatusDetails details = About(what, name);
  details.causes = std::move(causes);
  return Failure(422, "Invalid", std::move(message), std::move(details));
}

Status BadRequest(std::string_view message) {
  return Failure(400, "BadRequest", std::string(message));
}

Status Unauthorized() { return Failure(401, "Unauthorized", "Unauthorized"); }

Status Gone(std::string_view message) { return Failure(410, "Gone", std::string(message)); }

Status Expired(std::string_view message) { return Failure(410, "Expired", std::string(message)); }

Status MethodNotAllowed(const GroupResource& what, std::string_view verb) {
  return Failure(
      405, "MethodNotAllowed",
      std::string(verb) + " is not supported on resources of kind " + json::Quote(what.ToString()),
      About(what, ""));
}

Status NotAcceptable(const std::vector<std::string>& accepted) {
  return Failure(406, "NotAcceptable",
                 "only the following media types are accepted: " + base::Join(accepted, ", "));
}

Status UnsupportedMediaType(const std::vector<std::string>& accepted) {
  return Failure(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types "
                 "include: " +
                     base::Join(accepted, ", "));
}

Status RequestEntityTooLarge(std::string_view why) {
  return Failure(413, "RequestEntityTooLarge", "Request entity too large: " + std::string(why));
}

Status TooManyRequests(std::string_view message, int retry_after_seconds) {
  Status status = Failure(429, "TooManyRequests", std::string(message));
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

Status InternalError(std::string_view why) {
  StatusDetails details;
  details.causes = {{.message = std::string(why)}};
  return Failure(500, "InternalError", "Internal error occurred: " + std::string(why),
                 std::move(details));
}

Status ServiceUnavailable(std::string_view message) {
  return Failure(503, "ServiceUnavailable", std::string(message));
}

Status Timeout(std::string_view why, int retry_after_seconds) {
  Status status = Failure(504, "Timeout", "Timeout: " + std::string(why));
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

void throw_exception_from_error(const Status& status, const boost::source_location& where) {
  LOG(FATAL) << "value() of a failed result at " << where.file_name() << ":" << where.line() << ": "
             << status.message;
  std::abort();
}

}  // namespace api
