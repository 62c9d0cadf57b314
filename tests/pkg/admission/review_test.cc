#include "pkg/admission/review.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "pkg/admission/answers.h"
#include "pkg/api/object_meta.h"
#include "tests/pkg/admission/sample_reviews.h"
#include "tests/source_dir.h"

namespace review_test {

namespace {

using admission::Answer;
using admission::Operation;
using admission::Review;
using admission::ReviewParser;
using admission::test::PodText;
using admission::test::ReviewText;
using admission::test::SampleReview;
using base::ErrorCode;
using json::Value;

const admission::FieldsOf kPodFields = [](const api::GroupResource& resource) {
  if (resource.resource != "pods") return std::vector<std::string>();
  return std::vector<std::string>{"spec.containers.resources", "spec.activeDeadlineSeconds"};
};

Review Parsed(const SampleReview& sample) {
  auto review = ReviewParser().Parse(ReviewText(sample), kPodFields);
  INFO((review ? "" : review.error().message));
  REQUIRE(review.has_value());
  return std::move(*review);
}

std::string WhyNot(const std::string& body, ErrorCode code = ErrorCode::kMalformed) {
  const auto review = ReviewParser().Parse(body, kPodFields);
  CAPTURE(body);
  REQUIRE_FALSE(review.has_value());
  CHECK(review.error().Is(code));
  return review.error().message;
}

TEST_CASE("review: a creation is parsed with the wanted fields", "[admission]") {
  const Review review = Parsed({});
  CHECK(review.uid == "705ab4f5-6393-11e8-b7cc-42010a800002");
  CHECK(review.resource == api::GroupVersionResource{"", "v1", "pods"});
  CHECK(review.subresource.empty());
  CHECK(review.operation == Operation::kCreate);
  CHECK(review.ns == "team-a");
  CHECK(review.name == "web-6d4cf56db6-abcde");
  CHECK_FALSE(review.dry_run);
  CHECK(review.old_object.IsNull());
  CHECK(api::Uid(review.object) == "0c1a0b86-5f5c-4f0f-8d5f-6a1c1f7f0e01");
  CHECK(api::ResourceVersion(review.object) == "48151");
  const Value* containers = review.object.At({"spec", "containers"});
  REQUIRE(containers != nullptr);
  REQUIRE(containers->AsArray()->size() == 2);
  CHECK(containers->AsArray()->at(0).StringAt({"resources", "requests", "cpu"}) == "250m");
  CHECK(containers->AsArray()->at(0).At({"image"}) == nullptr);
  CHECK(review.object.At({"metadata", "managedFields"}) == nullptr);
}

TEST_CASE("review: an update has both objects, a deletion the old one", "[admission]") {
  const Review update =
      Parsed({.operation = "UPDATE", .subresource = "resize", .old_object = PodText("old")});
  CHECK(update.operation == Operation::kUpdate);
  CHECK(update.subresource == "resize");
  CHECK(api::Name(update.object) == api::Name(update.old_object));
  const Review going = Parsed({.operation = "DELETE", .object = "null", .old_object = PodText()});
  CHECK(going.operation == Operation::kDelete);
  CHECK(going.object.IsNull());
  CHECK_FALSE(going.old_object.IsNull());
  CHECK(Parsed({.operation = "CONNECT", .object = "{}"}).operation == Operation::kConnect);
  // The admitter refuses it, as the API server's own plugin does.
  CHECK(Parsed({.operation = "UPDATE"}).old_object.IsNull());
  CHECK(Parsed({.dry_run = true}).dry_run);
}

TEST_CASE("review: the owner is the controller, else the first one", "[admission]") {
  const auto owner = [](const std::string& owners) {
    return Parsed({.object = R"({"metadata":{"name":"x","ownerReferences":)" + owners + "}}"})
        .owner;
  };
  const Review pod = Parsed({});
  REQUIRE(pod.owner);
  CHECK(pod.owner->api_version == "apps/v1");
  CHECK(pod.owner->kind == "ReplicaSet");
  CHECK(pod.owner->name == "web-6d4cf56db6");
  CHECK(pod.owner->uid == "7f3c0f0e-2b1c-4d6f-9a55-0c4e1f1f5a11");
  CHECK(owner(R"([{"name":"a"},{"name":"b","controller":true}])")->name == "b");
  CHECK(owner(R"([{"name":"a","controller":false},{"name":"b"}])")->name == "a");
  CHECK(owner(R"([{"name":7,"controller":"yes"}])")->name == "");
  CHECK_FALSE(owner("[]"));
  CHECK_FALSE(owner("null"));
  CHECK_FALSE(owner(R"({"name":"a"})"));
}

TEST_CASE("review: the name comes from the request, the object or generateName", "[admission]") {
  const auto name = [](const std::string& object, const std::string& old_object) {
    const std::string operation = object == "null" ? "DELETE" : "CREATE";
    return Parsed({.operation = operation, .name = "", .object = object, .old_object = old_object})
        .name;
  };
  CHECK(name(R"({"metadata":{"name":"a","generateName":"g-"}})", "null") == "a");
  CHECK(name(R"({"metadata":{"generateName":"g-"}})", "null") == "g-");
  CHECK(name("null", R"({"metadata":{"name":"b"}})") == "b");
  CHECK(name("{}", "null") == "Unknown");
}

TEST_CASE("review: fields may have any order", "[admission]") {
  const auto review = ReviewParser().Parse(
      R"({"request":{"object":{"spec":{"activeDeadlineSeconds":7}},"operation":"CREATE",)"
      R"("resource":{"resource":"pods","version":"v1"},"uid":"u"},)"
      R"("apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
      kPodFields);
  REQUIRE(review.has_value());
  CHECK(json::Write(review->object) == R"({"spec":{"activeDeadlineSeconds":7}})");
  CHECK(review->ns.empty());
}

TEST_CASE("review: one parser parses reviews of many resources", "[admission]") {
  ReviewParser parser;
  for (int round = 0; round < 2; ++round) {
    const auto pod = parser.Parse(ReviewText({}), kPodFields);
    const auto other = parser.Parse(ReviewText({.resource = "services"}), kPodFields);
    REQUIRE(pod.has_value());
    REQUIRE(other.has_value());
    CHECK(pod->object.At({"spec"}) != nullptr);
    CHECK(other->object.At({"spec"}) == nullptr);
  }
  const auto more = [](const api::GroupResource&) { return std::vector<std::string>{"spec.x"}; };
  const auto changed = parser.Parse(
      ReviewText({.resource = "services", .object = R"({"spec":{"x":1,"y":2}})"}), more);
  REQUIRE(changed.has_value());
  CHECK(json::Write(changed->object) == R"({"spec":{"x":1}})");
}

// A client may send any names, and long ones.
TEST_CASE("review: nothing is remembered for resources without wanted fields", "[admission]") {
  ReviewParser parser;
  const auto parse = [&parser](const std::string& resource) {
    const auto review = parser.Parse(
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
        R"("operation":"CREATE","resource":{"resource":")" +
            resource + R"("},"object":{"metadata":{"name":"a"},"spec":{"b":1}}}})",
        [](const api::GroupResource& of) {
          return of.resource == "pods" ? std::vector<std::string>{"spec.b"}
                                       : std::vector<std::string>();
        });
    REQUIRE(review.has_value());
    return json::Write(review->object);
  };
  for (int i = 0; i < 20; ++i) {
    CHECK(parse("kind" + std::to_string(i)) == R"({"metadata":{"name":"a"}})");
  }
  CHECK(parser.prepared() == 0);
  CHECK(parse("pods") == R"({"metadata":{"name":"a"},"spec":{"b":1}})");
  CHECK(parser.prepared() == 1);
}

TEST_CASE("review: the error about an invalid review says what is missing", "[admission]") {
  CHECK(WhyNot("no JSON").starts_with("not an AdmissionReview: malformed JSON at byte "));
  CHECK(WhyNot("").starts_with("not an AdmissionReview: malformed JSON"));
  CHECK(WhyNot("[]") == "not an AdmissionReview: the body is of type array");
  CHECK(WhyNot("{}") == "not an AdmissionReview: it has no kind");
  CHECK(WhyNot(R"({"kind":"Pod"})") == "not an AdmissionReview: its kind is \"Pod\"");
  CHECK(WhyNot(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})",
               ErrorCode::kInvalidArgument) ==
        "an AdmissionReview of version \"admission.k8s.io/v1beta1\" is not understood, only "
        "admission.k8s.io/v1");
  const auto of_request = [](const std::string& request) {
    return WhyNot(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1")" + request +
                  "}");
  };
  CHECK(of_request("") == "the review has no request");
  CHECK(of_request(R"(,"request":7)") == "request is of type number, not an object");
  CHECK(of_request(R"(,"request":{})") == "the review has no request.uid");
  CHECK(of_request(R"(,"request":{"uid":7})") == "request.uid is of type number, not a string");
  CHECK(of_request(R"(,"request":{"uid":"u"})") == "the review has no request.resource.resource");
  const std::string known = R"(,"request":{"uid":"u","resource":{"resource":"pods"})";
  CHECK(of_request(known + "}") == "the review has no request.operation");
  CHECK(of_request(known + R"(,"operation":"PATCH"})") ==
        "request.operation \"PATCH\" is none of CREATE, UPDATE, DELETE and CONNECT");
  CHECK(of_request(known + R"(,"operation":"CREATE"})") == "the review has no request.object");
  CHECK(of_request(known + R"(,"operation":"UPDATE","object":null})") ==
        "the review has no request.object");
  CHECK(of_request(known + R"(,"operation":"CREATE","object":"o"})") ==
        "request.object is of type string, not an object");
  CHECK(of_request(known + R"(,"operation":"CREATE","dryRun":"yes"})") ==
        "request.dryRun is of type string, not a boolean");
  CHECK(of_request(known + R"(,"operation":"CREATE","subResource":[]})") ==
        "request.subResource is of type array, not a string");
}

TEST_CASE("review: texts that are too long are errors or cut", "[admission]") {
  const std::string text(2000, 'x');
  const std::string object = R"({"metadata":{"name":")" + text + R"(","generateName":"g"}})";
  CHECK(Parsed({.name = text}).name.size() == 1024);
  CHECK(Parsed({.name = "", .object = object}).name.size() == 1024);
  const auto refused = [](const admission::test::SampleReview& review) {
    const auto parsed = ReviewParser().Parse(ReviewText(review), kPodFields);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().Is(ErrorCode::kMalformed));
    return parsed.error().message;
  };
  CHECK(refused({.resource = text}) == "request.resource.resource is longer than 1024 bytes");
  CHECK(refused({.group = text}) == "request.resource.group is longer than 1024 bytes");
  const auto huge =
      ReviewParser().Parse(ReviewText({.name = std::string(100'000, 'x')}), kPodFields);
  REQUIRE_FALSE(huge.has_value());
  CHECK(huge.error().Is(ErrorCode::kTooLarge));
}

TEST_CASE("review: a truncated review is an error", "[admission]") {
  const std::string whole = ReviewText({.operation = "UPDATE", .old_object = PodText("old")});
  const std::size_t end = whole.rfind('}');
  ReviewParser parser;
  for (std::size_t length = 0; length <= end; length += length < end - 400 ? 3 : 1) {
    const auto review = parser.Parse(std::string_view(whole).substr(0, length), kPodFields);
    if (!review) continue;
    FAIL("accepted when cut at byte " << length);
  }
  CHECK(parser.Parse(std::string_view(whole).substr(0, end + 1), kPodFields).has_value());
}

TEST_CASE("review: with any byte changed it is an error or a complete review", "[admission]") {
  const std::string whole = ReviewText({.operation = "UPDATE", .old_object = PodText("old")});
  ReviewParser parser;
  std::size_t errors = 0;
  constexpr std::string_view kBytes("\0\"\\{],\x80x", 8);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = kBytes[at * 5 % kBytes.size()];
    const auto review = parser.Parse(changed, kPodFields);
    if (!review) {
      ++errors;
      if (review.error().message.empty()) FAIL("no words for byte " << at);
      continue;
    }
    const bool complete = !review->uid.empty() && !review->resource.resource.empty() &&
                          review->object.IsObject() && !review->name.empty();
    if (!complete) FAIL("half a review with byte " << at << " changed");
  }
  CHECK(errors > 1000);
}

TEST_CASE("review: an admission is answered with the call's uid", "[admission]") {
  Review review;
  review.uid = "a\"b";
  CHECK(admission::FormatAnswer(review, {}) ==
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
        R"("response":{"uid":"a\"b","allowed":true}})");
}

Value Answered(const Review& review, const Answer& answer) {
  auto value = json::Parse(admission::FormatAnswer(review, answer));
  REQUIRE(value.has_value());
  return std::move(*value);
}

TEST_CASE("review: a refusal reads as the API server's own", "[admission]") {
  Review review;
  review.uid = "u";
  review.resource = {"apps", "v1", "deployments"};
  review.name = "x";
  Answer answer{.kind = Answer::Kind::kRefused,
                .reason = "Forbidden",
                .message = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"};
  const Value refused = Answered(review, answer);
  CHECK(refused.At({"response", "allowed"})->AsBool() == false);
  const Value& status = *refused.At({"response", "status"});
  CHECK(status.StringAt({"status"}) == "Failure");
  CHECK(status.StringAt({"reason"}) == "Forbidden");
  CHECK(status.At({"code"})->AsInt64() == 403);
  CHECK(status.StringAt({"message"}) ==
        "deployments.apps \"x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, "
        "limited: pods=2");
  CHECK(json::Write(*status.At({"details"})) ==
        R"({"name":"x","group":"apps","kind":"deployments"})");
  answer.causes = {{.reason = "QuotaExceeded",
                    .message = "requested: 1, used: 2, limited: 2",
                    .field = "ResourceQuota/q/pods"}};
  CHECK(json::Write(*Answered(review, answer).At({"response", "status", "details", "causes"})) ==
        R"([{"reason":"QuotaExceeded","message":"requested: 1, used: 2, limited: 2",)"
        R"("field":"ResourceQuota/q/pods"}])");

  review.resource = {"", "v1", "pods"};
  CHECK(Answered(review, answer)
            .StringAt({"response", "status", "message"})
            .starts_with("pods \"x\" is forbidden: exceeded quota: q, "));
}

TEST_CASE("review: the README explains every reason of a cause", "[admission]") {
  std::ifstream file(tests::SourcePath("/pkg/admission/README.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  REQUIRE_FALSE(text.empty());
  for (const std::string_view reason : quota::cause::kAll) {
    CAPTURE(reason);
    CHECK(text.find("| `" + std::string(reason) + "` |") != std::string::npos);
  }
}

TEST_CASE("review: audit annotations say which quota refused", "[admission]") {
  Answer answer{.kind = Answer::Kind::kRefused, .message = "exceeded quota: q"};
  CHECK(Answered(Review(), answer).At({"response", "auditAnnotations"}) == nullptr);
  answer.refuser = quota::Refuser{.name = "q", .uid = "u", .exceeded = {"pods", "requests.cpu"}};
  CHECK(json::Write(*Answered(Review(), answer).At({"response", "auditAnnotations"})) ==
        R"({"refused-by-quota":"q","exceeded":"pods,requests.cpu"})");
  answer.refuser->exceeded.clear();
  CHECK(json::Write(*Answered(Review(), answer).At({"response", "auditAnnotations"})) ==
        R"({"refused-by-quota":"q"})");
  answer.kind = Answer::Kind::kAllowed;
  CHECK(Answered(Review(), answer).At({"response", "auditAnnotations"}) == nullptr);
}

TEST_CASE("review: a refusal with another code keeps its message", "[admission]") {
  Review review;
  review.resource = {"", "v1", "pods"};
  review.name = "x";
  const Value refused =
      Answered(review, {.kind = Answer::Kind::kRefused, .code = 500, .message = "no luck"});
  const Value& status = *refused.At({"response", "status"});
  CHECK(status.At({"code"})->AsInt64() == 500);
  CHECK(status.StringAt({"message"}) == "no luck");
  CHECK(status.At({"reason"}) == nullptr);
}

TEST_CASE("review: warnings are cut at 256 characters, never inside one", "[admission]") {
  std::string long_warning;
  for (int i = 0; i < 300; ++i) long_warning += "é";
  const Value allowed =
      Answered(Review(), {.warnings = {"short \"one\"", long_warning, std::string(256, 'x')}});
  const json::Array& warnings = *allowed.At({"response", "warnings"})->AsArray();
  REQUIRE(warnings.size() == 3);
  CHECK(*warnings[0].AsString() == "short \"one\"");
  CHECK(*warnings[1].AsString() == long_warning.substr(0, 512));
  CHECK(warnings[2].AsString()->size() == 256);
}

}  // namespace

}  // namespace review_test
