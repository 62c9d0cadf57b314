#include "pkg/api/status.h"

#include <catch2/catch.hpp>

namespace api::status_test {
namespace {

const GroupResource kPods{"", "pods"};
const GroupResource kDeployments{"apps", "deployments"};

TEST_CASE("status: the usual failures have kube-apiserver's code, reason and message", "[api]") {
  struct Case {
    Status status;
    int code;
    const char* reason;
    const char* message;
  };
  const Case cases[] = {
      {NotFound(kPods, "x"), 404, "NotFound", R"(pods "x" not found)"},
      {NotFound(kDeployments, "x"), 404, "NotFound", R"(deployments.apps "x" not found)"},
      {AlreadyExists(kPods, "x"), 409, "AlreadyExists", R"(pods "x" already exists)"},
      {ModifiedConflict(kPods, "x"), 409, "Conflict",
       "Operation cannot be fulfilled on pods \"x\": the object has been modified; please apply "
       "your changes to the latest version and try again"},
      {Forbidden(kPods, "x", "why"), 403, "Forbidden", R"(pods "x" is forbidden: why)"},
      {Forbidden(kPods, "", "why"), 403, "Forbidden", "pods is forbidden: why"},
      {Forbidden({}, "", "why"), 403, "Forbidden", "forbidden: why"},
      {BadRequest("no"), 400, "BadRequest", "no"},
      {Unauthorized(), 401, "Unauthorized", "Unauthorized"},
      {Gone("old"), 410, "Gone", "old"},
      {Expired("old"), 410, "Expired", "old"},
      {MethodNotAllowed(kDeployments, "patch"), 405, "MethodNotAllowed",
       R"(patch is not supported on resources of kind "deployments.apps")"},
      {NotAcceptable({"a/b", "c/d"}), 406, "NotAcceptable",
       "only the following media types are accepted: a/b, c/d"},
      {UnsupportedMediaType({"a/b", "c/d"}), 415, "UnsupportedMediaType",
       "the body of the request was in an unknown format - accepted media types include: a/b, "
       "c/d"},
      {RequestEntityTooLarge("limit is 3145728"), 413, "RequestEntityTooLarge",
       "Request entity too large: limit is 3145728"},
      {TooManyRequests("wait", 3), 429, "TooManyRequests", "wait"},
      {InternalError("oops"), 500, "InternalError", "Internal error occurred: oops"},
      {ServiceUnavailable("later"), 503, "ServiceUnavailable", "later"},
      {Timeout("late", 1), 504, "Timeout", "Timeout: late"},
  };
  for (const Case& one : cases) {
    INFO(one.message);
    CHECK(one.status.code == one.code);
    CHECK(one.status.reason == one.reason);
    CHECK(one.status.message == one.message);
    CHECK(one.status.status == "Failure");
  }
}

TEST_CASE("status: Invalid joins its causes; the message names equal ones once", "[api]") {
  CHECK(Invalid("", "ResourceQuota", "q", {}).message == R"(ResourceQuota "q" is invalid)");
  CHECK(Invalid("", "Pod", "p", {{"FieldValueInvalid", "bad", "spec.x"}}).message ==
        R"(Pod "p" is invalid: spec.x: bad)");
  const Status status = Invalid("apps", "Deployment", "d",
                                {{"FieldValueInvalid", "bad", "a"},
                                 {"FieldValueInvalid", "bad", "a"},
                                 {"FieldValueRequired", "Required value", "b"}});
  CHECK(status.message == R"(Deployment.apps "d" is invalid: [a: bad, b: Required value])");
  CHECK(status.code == 422);
  CHECK(status.details.causes.size() == 3);
  CHECK(status.details.kind == "Deployment");
}

TEST_CASE("status: its JSON has the members in kube-apiserver's order, without empty ones",
          "[api]") {
  CHECK(json::Write(NotFound(kDeployments, "x").ToJson()) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"deployments.apps \"x\" not found","reason":"NotFound",)"
        R"("details":{"name":"x","group":"apps","kind":"deployments"},"code":404})");
  CHECK(json::Write(Unauthorized().ToJson()) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"Unauthorized","reason":"Unauthorized","code":401})");
  CHECK(json::Write(*TooManyRequests("wait", 3).ToJson().At({"details"})) ==
        R"({"retryAfterSeconds":3})");
}

TEST_CASE("status: a written Status is read back", "[api]") {
  Status status = Invalid("apps", "Deployment", "d", {{"FieldValueInvalid", "bad", "a"}});
  status.details.uid = "u";
  status.retry_after_seconds = 5;
  status.continue_token = "token";
  CHECK(ParseStatus(status.ToJson()) == status);
  Status success;
  success.status = "Success";
  success.details = {.name = "x", .kind = "pods", .uid = "u"};
  CHECK(ParseStatus(success.ToJson()) == success);
}

TEST_CASE("status: other JSON is not read as a Status", "[api]") {
  for (const char* text : {"null", "[]", "{}", R"({"kind":"Pod"})",
                           R"({"kind":"Status","apiVersion":"v2"})", R"({"kind":5})"}) {
    CHECK_FALSE(ParseStatus(*json::Parse(text)).has_value());
  }
  const auto status = ParseStatus(*json::Parse(
      R"({"kind":"Status","code":"x","details":{"causes":[7],"retryAfterSeconds":-1},"reason":1})"));
  REQUIRE(status.has_value());
  CHECK(status->code == 0);
  CHECK(status->reason.empty());
  CHECK(status->retry_after_seconds == 0);
  CHECK(status->details.causes.size() == 1);
}

}  // namespace
}  // namespace api::status_test
