#include "pkg/client/api_error.h"

#include <catch2/catch.hpp>

#include "pkg/client/retry_policy.h"

#include "tests/pkg/client/print_result.h"
#include "tests/pkg/protobuf/wire.h"

namespace client::api_error_test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

std::string Status(const std::string& reason, int code, const std::string& message = "words",
                   const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
         message + R"(","reason":")" + reason + R"(","details":)" + details + R"(,"code":)" +
         std::to_string(code) + "}";
}

TEST_CASE("api error: the reason decides, then the code", "[client]") {
  struct Case {
    int status;
    std::string body;
    ErrorCode code;
    std::string reason;
  };
  const std::vector<Case> cases{
      {401, Status("Unauthorized", 401), ErrorCode::kUnauthorized, "Unauthorized"},
      {403, Status("Forbidden", 403), ErrorCode::kForbidden, "Forbidden"},
      {404, Status("NotFound", 404), ErrorCode::kNotFound, "NotFound"},
      {409, Status("AlreadyExists", 409), ErrorCode::kAlreadyExists, "AlreadyExists"},
      {409, Status("Conflict", 409), ErrorCode::kConflict, "Conflict"},
      {410, Status("Expired", 410), ErrorCode::kExpired, "Expired"},
      {410, Status("Gone", 410), ErrorCode::kExpired, "Gone"},
      {422, Status("Invalid", 422), ErrorCode::kInvalid, "Invalid"},
      {400, Status("BadRequest", 400), ErrorCode::kInvalid, "BadRequest"},
      {500, Status("ServerTimeout", 500), ErrorCode::kUnavailable, "ServerTimeout"},
      {500, Status("InternalError", 500), ErrorCode::kUnavailable, "InternalError"},
      {503, Status("ServiceUnavailable", 503), ErrorCode::kUnavailable, "ServiceUnavailable"},
      {504, Status("Timeout", 504), ErrorCode::kTimeout, "Timeout"},
      // If the reason belongs to another status, the reason wins, except with 429 and 413.
      {500, Status("NotFound", 500), ErrorCode::kNotFound, "NotFound"},
      {429, Status("InternalError", 429), ErrorCode::kTooManyRequests, "InternalError"},
      {413, Status("Conflict", 413), ErrorCode::kInvalid, "Conflict"},
      // Unknown reasons of an admission plugin.
      {403, Status("Odd", 403), ErrorCode::kForbidden, "Odd"},
      {409, Status("", 409), ErrorCode::kAlreadyExists, "AlreadyExists"},
      // No Status.
      {404, "404 page not found\n", ErrorCode::kNotFound, "NotFound"},
      {409, "", ErrorCode::kAlreadyExists, "AlreadyExists"},
      {502, "<html>bad gateway</html>", ErrorCode::kUnavailable, "InternalError"},
      {503, "", ErrorCode::kUnavailable, "ServiceUnavailable"},
      {418, "{not json", ErrorCode::kInvalid, "Unknown"},
      {302, "", ErrorCode::kInvalid, "Unknown"},
      {404, R"({"kind":"Pod","reason":"Gone"})", ErrorCode::kNotFound, "NotFound"},
  };
  for (const Case& test : cases) {
    INFO(test.status << " " << test.body);
    const base::Error error = ErrorFromAnswer("POST", "/api/v1/pods", test.status, "", test.body);
    CHECK(error.code == test.code);
    CHECK(error.reason == test.reason);
    CHECK(error.http_status == test.status);
  }
  CHECK(ErrorFromAnswer("PUT", "/p", 409, "", "").code == ErrorCode::kConflict);
}

TEST_CASE("api error: the message has verb, path, code, reason and the server's message",
          "[client]") {
  CHECK(ErrorFromAnswer("GET", "/api/v1/pods/x", 404, "",
                        Status("NotFound", 404, "pods \\\"x\\\" not found"))
            .message == "GET /api/v1/pods/x: 404 NotFound: pods \"x\" not found");
  CHECK(ErrorFromAnswer("GET", "/x", 404, "", "404 page\nnot found\n").message ==
        "GET /x: 404 NotFound: 404 page not found");
  CHECK(ErrorFromAnswer("GET", "/x", 503, "", "").message == "GET /x: 503 ServiceUnavailable");
  CHECK(ErrorFromAnswer("GET", "/x", 500, "", std::string(100'000, 'a')).message.size() < 2200);
}

TEST_CASE("api error: the time to wait is from the header, else from the Status", "[client]") {
  const std::string body = Status("TooManyRequests", 429, "slow", R"({"retryAfterSeconds":7})");
  CHECK(ErrorFromAnswer("GET", "/x", 429, "3", body).retry_after == 3s);
  CHECK(ErrorFromAnswer("GET", "/x", 429, "", body).retry_after == 7s);
  CHECK(ErrorFromAnswer("GET", "/x", 429, "Wed, 21 Oct 2026 07:28:00 GMT", "").retry_after == 0s);
  CHECK(ErrorFromAnswer("GET", "/x", 429, "-1", "").retry_after == 0s);
}

TEST_CASE("api error: the time to wait is a minute at most", "[client]") {
  const std::string body = Status("TooManyRequests", 429, "w", R"({"retryAfterSeconds":172800})");
  CHECK(ErrorFromAnswer("GET", "/x", 503, "60", "").retry_after == 60s);
  CHECK(ErrorFromAnswer("GET", "/x", 503, "3600", "").retry_after == 60s);
  CHECK(ErrorFromAnswer("GET", "/x", 503, "2147483647", "").retry_after == 60s);
  CHECK(ErrorFromAnswer("GET", "/x", 429, "", body).retry_after == 60s);
}

TEST_CASE("api error: a resource version that is not reached yet is recognised", "[client]") {
  const std::string cause = R"({"causes":[{"reason":"ResourceVersionTooLarge"}]})";
  CHECK(ErrorFromAnswer("GET", "/x", 504, "1", Status("Timeout", 504, "w", cause))
            .too_large_resource_version);
  CHECK(
      ErrorFromAnswer("GET", "/x", 504, "1",
                      Status("Timeout", 504, "Timeout: Too large resource version: 9, current: 1"))
          .too_large_resource_version);
  CHECK_FALSE(
      ErrorFromAnswer("GET", "/x", 504, "", Status("Timeout", 504)).too_large_resource_version);
}

TEST_CASE("api error: only a Status of Failure turns a success into an error", "[client]") {
  const auto failure = FailureInSuccess("GET", "/x", Status("Expired", 410));
  REQUIRE(failure);
  CHECK(failure->code == ErrorCode::kExpired);
  CHECK(failure->http_status == 410);
  CHECK_FALSE(FailureInSuccess("DELETE", "/x", R"({"kind":"Status","status":"Success"})"));
  CHECK_FALSE(FailureInSuccess("GET", "/x", R"({"kind":"Pod","status":"Failure"})"));
  CHECK_FALSE(FailureInSuccess("GET", "/x", ""));
}

TEST_CASE("retry: Retry-After is obeyed for every verb, up to ten times", "[client]") {
  RetryPolicy policy("PATCH");
  const base::Error error{.http_status = 429, .retry_after = 2s};
  for (int i = 0; i < 10; ++i) CHECK(policy.Next(error) == 2s);
  CHECK_FALSE(policy.Next(error));
}

TEST_CASE("retry: without Retry-After an answer is final", "[client]") {
  RetryPolicy policy("GET");
  CHECK_FALSE(policy.Next({.code = ErrorCode::kUnavailable, .http_status = 500}));
  CHECK_FALSE(policy.Next({.code = ErrorCode::kTooManyRequests, .http_status = 429}));
  CHECK_FALSE(policy.Next({.code = ErrorCode::kConflict, .http_status = 409, .retry_after = 1s}));
}

TEST_CASE("api error: a Status in protobuf is read like one in JSON", "[client]") {
  std::string status = wire::Bytes(2, "Failure");
  status.append(wire::Bytes(3, "too old")).append(wire::Bytes(4, "Expired"));
  status.append(wire::Bytes(5, wire::Number(5, 7))).append(wire::Number(6, 410));
  const base::Error error =
      ErrorFromAnswer("LIST", "/x", 410, "", wire::Enveloped("Status", status));
  CHECK(error.code == ErrorCode::kExpired);
  CHECK(error.message == "LIST /x: 410 Expired: too old");
  CHECK(error.retry_after == 7s);
}

TEST_CASE("retry: after a lost connection reads are repeated, writes never", "[client]") {
  const base::Error lost{.code = ErrorCode::kUnavailable};
  RetryPolicy read("GET");
  CHECK(read.Next(lost) == 1s);
  CHECK(read.Next(lost) == 1s);
  CHECK_FALSE(read.Next(lost));
  for (const char* verb : {"PUT", "POST", "PATCH", "DELETE"}) {
    CHECK_FALSE(RetryPolicy(verb).Next(lost));
  }
  CHECK_FALSE(RetryPolicy("GET").Next({.code = ErrorCode::kTls}));
  CHECK_FALSE(RetryPolicy("GET").Next({.code = ErrorCode::kTimeout}));
}

}  // namespace
}  // namespace client::api_error_test
