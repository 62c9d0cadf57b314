#include "pkg/client/api_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "pkg/client/files.h"
#include "pkg/json/value.h"
#include "pkg/protobuf/envelope.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::size_t kMaxText = 2048;
constexpr std::size_t kMaxStatusBytes = std::size_t{256} << 10;
// Nothing ends a wait early. A page of maintenance may ask for an hour, and be shown for half a
// minute: then nothing would be followed for the rest of the hour.
constexpr std::chrono::seconds kLongestWait{60};

constexpr std::array<std::pair<std::string_view, ErrorCode>, 19> kReasons{{
    {"Unauthorized", ErrorCode::kUnauthorized},
    {"Forbidden", ErrorCode::kForbidden},
    {"NotFound", ErrorCode::kNotFound},
    {"AlreadyExists", ErrorCode::kAlreadyExists},
    {"Conflict", ErrorCode::kConflict},
    {"Gone", ErrorCode::kExpired},
    {"Expired", ErrorCode::kExpired},
    {"Invalid", ErrorCode::kInvalid},
    {"BadRequest", ErrorCode::kInvalid},
    {"MethodNotAllowed", ErrorCode::kInvalid},
    {"NotAcceptable", ErrorCode::kInvalid},
    {"RequestEntityTooLarge", ErrorCode::kInvalid},
    {"UnsupportedMediaType", ErrorCode::kInvalid},
    {"ServerTimeout", ErrorCode::kUnavailable},
    {"Timeout", ErrorCode::kTimeout},
    {"TooManyRequests", ErrorCode::kTooManyRequests},
    {"InternalError", ErrorCode::kUnavailable},
    {"ServiceUnavailable", ErrorCode::kUnavailable},
    {"StorageReadError", ErrorCode::kUnavailable},
}};

// For an answer without a known reason.
std::pair<ErrorCode, std::string_view> FromCode(std::string_view verb, int status) {
  switch (status) {
    case 400:
      return {ErrorCode::kInvalid, "BadRequest"};
    case 401:
      return {ErrorCode::kUnauthorized, "Unauthorized"};
    case 403:
      return {ErrorCode::kForbidden, "Forbidden"};
    case 404:
      return {ErrorCode::kNotFound, "NotFound"};
    case 405:
      return {ErrorCode::kInvalid, "MethodNotAllowed"};
    case 406:
      return {ErrorCode::kInvalid, "NotAcceptable"};
    case 409:
      if (verb == "POST") return {ErrorCode::kAlreadyExists, "AlreadyExists"};
      return {ErrorCode::kConflict, "Conflict"};
    case 410:
      return {ErrorCode::kExpired, "Gone"};
    case 413:
      return {ErrorCode::kInvalid, "RequestEntityTooLarge"};
    case 415:
      return {ErrorCode::kInvalid, "UnsupportedMediaType"};
    case 422:
      return {ErrorCode::kInvalid, "Invalid"};
    case 429:
      return {ErrorCode::kTooManyRequests, "TooManyRequests"};
    case 503:
      return {ErrorCode::kUnavailable, "ServiceUnavailable"};
    case 504:
      return {ErrorCode::kTimeout, "Timeout"};
    default:
      break;
  }
  if (status >= 500) return {ErrorCode::kUnavailable, "InternalError"};
  return {ErrorCode::kInvalid, "Unknown"};
}

// 429 and 413 are classified by status alone, whatever the reason says.
ErrorCode Classify(std::string_view verb, int status, std::string_view reason) {
  if (status != 429 && status != 413) {
    for (const auto& [name, code] : kReasons) {
      if (name == reason) return code;
    }
  }
  return FromCode(verb, status).first;
}

bool SaysTooLargeVersion(const json::Value& status) {
  constexpr std::string_view kOldText = "Too large resource version";
  const json::Value* causes = status.At({"details", "causes"});
  if (causes != nullptr && causes->IsArray()) {
    for (const json::Value& cause : *causes->AsArray()) {
      if (cause.StringAt({"reason"}) == "ResourceVersionTooLarge") return true;
      if (cause.StringAt({"message"}).find(kOldText) != std::string_view::npos) return true;
    }
  }
  return status.StringAt({"message"}).find(kOldText) != std::string_view::npos;
}

// Only whole seconds. An HTTP date or anything else counts as absent, as in client-go.
std::chrono::milliseconds ParseRetryAfter(std::string_view text) {
  int seconds = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = ec == std::errc() && end == text.data() + text.size();
  if (!whole || seconds <= 0) return std::chrono::seconds(0);
  return std::min(std::chrono::seconds(seconds), kLongestWait);
}

// Returns the text in a form fit for one log line.
std::string OneLine(std::string_view text) {
  std::string line(Trim(text.substr(0, kMaxText)));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  if (text.size() > kMaxText) line += " …";
  return line;
}

// If the request preferred protobuf, an error answer is protobuf, too.
std::optional<json::Value> ParseStatus(std::string_view body) {
  std::optional<std::string> as_json;
  if (body.size() <= kMaxStatusBytes) as_json = protobuf::StatusAsJson(body);
  if (as_json) body = *as_json;
  if (body.size() > kMaxStatusBytes || Trim(body).substr(0, 1) != "{") return std::nullopt;
  base::Result<json::Value> value = json::Parse(body);
  if (!value || value->StringAt({"kind"}) != "Status") return std::nullopt;
  const std::string_view version = value->StringAt({"apiVersion"});
  if (!version.empty() && version != "v1") return std::nullopt;
  return std::move(*value);
}

void ReadStatus(const json::Value& status, std::string_view verb, Error& error,
                std::string_view& words) {
  if (!status.StringAt({"reason"}).empty()) {
    error.reason = status.StringAt({"reason"});
    error.code = Classify(verb, error.http_status, error.reason);
  }
  words = status.StringAt({"message"});
  const json::Value* wait = status.At({"details", "retryAfterSeconds"});
  const std::int64_t seconds = wait == nullptr ? 0 : wait->AsInt64().value_or(0);
  // The header takes precedence.
  if (error.retry_after.count() == 0 && seconds > 0) {
    error.retry_after = std::min(std::chrono::seconds(seconds), kLongestWait);
  }
  error.too_large_resource_version =
      error.code == ErrorCode::kTimeout && SaysTooLargeVersion(status);
}

Error Build(std::string_view verb, std::string_view path, int status, std::string_view retry_after,
            std::string_view body, const std::optional<json::Value>& parsed) {
  Error error;
  const auto [code, reason] = FromCode(verb, status);
  error.code = code;
  error.reason = reason;
  error.http_status = status;
  error.retry_after = ParseRetryAfter(retry_after);
  std::string_view words = body;
  if (parsed) ReadStatus(*parsed, verb, error, words);
  const std::string text = OneLine(words);
  error.message = std::string(verb) + " " + std::string(path) + ": " + std::to_string(status) +
                  " " + error.reason + (text.empty() ? "" : ": " + text);
  return error;
}

}  // namespace

Error ErrorFromAnswer(std::string_view verb, std::string_view path, int status,
                      std::string_view retry_after, std::string_view body) {
  return Build(verb, path, status, retry_after, body, ParseStatus(body));
}

std::optional<Error> FailureInSuccess(std::string_view verb, std::string_view path,
                                      std::string_view body) {
  if (body.size() > kMaxStatusBytes) return std::nullopt;
  // So nearly no body has to be parsed.
  if (body.find("\"Failure\"") == std::string_view::npos) return std::nullopt;
  const std::optional<json::Value> status = ParseStatus(body);
  if (!status || status->StringAt({"status"}) != "Failure") return std::nullopt;
  const json::Value* code = status->At({"code"});
  const std::int64_t number = code == nullptr ? 0 : code->AsInt64().value_or(0);
  return Build(verb, path, number >= 400 && number < 600 ? static_cast<int>(number) : 500, "", body,
               status);
}

bool IsRefusedForGood(const base::Error& error) {
  constexpr std::array kPasses{401, 404, 408, 409, 429};
  return error.http_status >= 400 && error.http_status < 500 &&
         std::ranges::find(kPasses, error.http_status) == kPasses.end();
}

bool IsTerminating(const base::Error& error) {
  return error.Is(base::ErrorCode::kForbidden) &&
         error.message.find("because it is being terminated") != std::string::npos;
}

}  // namespace client
