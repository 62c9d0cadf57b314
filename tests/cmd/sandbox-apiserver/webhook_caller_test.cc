#include "cmd/sandbox-apiserver/webhook_caller.h"

#include "tests/cmd/sandbox-apiserver/api_fixture.h"

namespace sandbox::webhook_caller_test {
namespace {

constexpr const char* kConfigurations =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

std::string Map(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + "\"}}";
}

// Webhooks that answer as the test says and record their calls.
class WebhookFixture : public ApiFixture {
 protected:
  WebhookFixture() {
    handler_->webhooks().SetPost([this](const Webhook& webhook, std::string body) {
      return Post(webhook, std::move(body));
    });
  }

  void Register(const std::string& more = "") {
    const http::Response made = Ask(
        "POST", kConfigurations,
        R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
            "metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None",
            "admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/validate"},
            "rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],
                      "resources":["configmaps"]}])" +
            more + "}]}");
    INFO(made.body);
    REQUIRE(made.status == 201);
  }

  base::Task<base::Result<http::Response>> Post(const Webhook&, std::string body) {
    const json::Value review = json::Parse(body).value();
    reviews_.push_back(review);
    if (unreachable_) {
      co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "refused"};
    }
    if (busy_ > 0) {
      --busy_;
      co_return http::Response{429, {{"Retry-After", "1"}}, ""};
    }
    if (status_) co_return http::Response{503, {}, *status_};
    if (meanwhile_) std::exchange(meanwhile_, nullptr)();
    json::Value answer = json::Parse(R"({"kind":"AdmissionReview",
                                         "apiVersion":"admission.k8s.io/v1"})")
                             .value();
    answer.Make({"response"}) = answer_;
    answer.Make({"response", "uid"}) = review.StringAt({"request", "uid"});
    co_return http::Response{200, {}, json::Write(answer)};
  }

  json::Value answer_ = json::Parse(R"({"allowed":true})").value();
  bool unreachable_ = false;
  int busy_ = 0;
  std::optional<std::string> status_;  // the body of a 503
  std::function<void()> meanwhile_;    // called once, between prepare and commit of a write
  std::vector<json::Value> reviews_;
};

const char* const kDenial =
    R"({"allowed":false,"status":{"code":403,"reason":"Forbidden","message":"exceeded quota"}})";

}  // namespace

TEST_CASE_METHOD(WebhookFixture, "webhooks: asked with the object as it will be stored",
                 "[sandbox]") {
  Register();
  CHECK(Ask("POST", kMaps, Map("a")).status == 201);
  REQUIRE(reviews_.size() == 1);
  const json::Value& request = *reviews_[0].At({"request"});
  CHECK(request.StringAt({"operation"}) == "CREATE");
  CHECK(request.StringAt({"namespace"}) == "default");
  CHECK(request.StringAt({"name"}) == "a");
  CHECK(request.StringAt({"userInfo", "username"}) == "admin");
  CHECK_FALSE(request.StringAt({"object", "metadata", "uid"}).empty());
  CHECK(request.At({"oldObject"})->IsNull());
  CHECK(request.StringAt({"options", "kind"}) == "CreateOptions");
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: a denial is the client's answer, nothing is stored",
                 "[sandbox]") {
  Register();
  answer_ = json::Parse(kDenial).value();
  const http::Response denied = Ask("POST", kMaps, Map("a"));
  CHECK(denied.status == 403);
  CHECK(Json(denied).StringAt({"message"}) ==
        "admission webhook \"w.example.com\" denied the request: exceeded quota");
  CHECK(Ask("GET", std::string(kMaps) + "/a").status == 404);
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: warnings reach the client", "[sandbox]") {
  Register();
  answer_ = json::Parse(R"({"allowed":true,"warnings":["nearly full"]})").value();
  CHECK(Ask("POST", kMaps, Map("a")).headers.Get("Warning") == "299 - \"nearly full\"");
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: a failure has the message of its Status", "[sandbox]") {
  Register();
  const std::string failed =
      "Internal error occurred: failed calling webhook \"w.example.com\": failed to call webhook: ";
  status_ = R"({"kind":"Status","apiVersion":"v1","message":"not now"})";
  CHECK(Json(Ask("POST", kMaps, Map("a"))).StringAt({"message"}) == failed + "not now");
  status_ = "<html>";
  CHECK(Json(Ask("POST", kMaps, Map("a"))).StringAt({"message"}) ==
        failed + "the webhook answered HTTP 503");
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: failures follow the policy", "[sandbox]") {
  unreachable_ = true;
  SECTION("Fail") {
    Register(R"(,"failurePolicy":"Fail")");
    const http::Response failed = Ask("POST", kMaps, Map("a"));
    CHECK(failed.status == 500);
    CHECK(Json(failed).StringAt({"message"}) ==
          "Internal error occurred: failed calling webhook \"w.example.com\": failed to call "
          "webhook: refused");
  }
  SECTION("Ignore") {
    Register(R"(,"failurePolicy":"Ignore")");
    CHECK(Ask("POST", kMaps, Map("a")).status == 201);
    CHECK(reviews_.size() == 1);
  }
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: a call that is answered 429 is repeated", "[sandbox]") {
  Register();
  busy_ = 2;
  RecordingWriter& write = Open("POST", kMaps, Map("a"));
  CHECK_FALSE(write.finished);
  scheduler_.RunFor(std::chrono::seconds(3));
  CHECK(write.response.status == 201);
  CHECK(reviews_.size() == 3);
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: a dry run is reviewed, and stores nothing",
                 "[sandbox]") {
  Register();
  CHECK(Ask("POST", std::string(kMaps) + "?dryRun=All", Map("a")).status == 201);
  CHECK(reviews_.at(0).At({"request", "dryRun"})->AsBool() == true);
  CHECK(Ask("GET", std::string(kMaps) + "/a").status == 404);
}

TEST_CASE_METHOD(WebhookFixture,
                 "webhooks: a patch without a version that lost a race is reviewed again",
                 "[sandbox]") {
  REQUIRE(Ask("POST", kMaps, Map("a")).status == 201);
  Register();
  const http::Headers merge{{"Content-Type", "application/merge-patch+json"}};
  meanwhile_ = [this] {
    const TypePtr type = handler_->store().objects().registry().Find("", "v1", "configmaps");
    const json::Value body = json::Parse(R"({"data":{"other":"1"}})").value();
    REQUIRE(handler_->store().Patch({type, "default", "a", ""}, {PatchType::kMerge, body}));
  };
  const http::Response patched =
      Ask("PATCH", std::string(kMaps) + "/a", R"({"data":{"mine":"2"}})", merge);
  CHECK(patched.status == 200);
  CHECK(json::Write(*Json(patched).At({"data"})) == R"({"other":"1","mine":"2"})");
  REQUIRE(reviews_.size() == 2);
  CHECK(reviews_[1].StringAt({"request", "oldObject", "data", "other"}) == "1");

  const std::string version(Json(patched).StringAt({"metadata", "resourceVersion"}));
  meanwhile_ = [this] {
    const TypePtr type = handler_->store().objects().registry().Find("", "v1", "configmaps");
    const json::Value body = json::Parse(R"({"data":{"other":"3"}})").value();
    REQUIRE(handler_->store().Patch({type, "default", "a", ""}, {PatchType::kMerge, body}));
  };
  CHECK(Ask("PATCH", std::string(kMaps) + "/a",
            R"({"metadata":{"resourceVersion":")" + version + R"("},"data":{"mine":"4"}})", merge)
            .status == 409);
}

TEST_CASE_METHOD(WebhookFixture, "webhooks: deletecollection asks for each object, without name",
                 "[sandbox]") {
  REQUIRE(Ask("POST", kMaps, Map("a")).status == 201);
  REQUIRE(Ask("POST", kMaps, Map("b")).status == 201);
  Register();
  CHECK(Ask("DELETE", kMaps).status == 200);
  REQUIRE(reviews_.size() >= 2);
  CHECK(reviews_[0].At({"request", "name"}) == nullptr);
  CHECK(reviews_[0].StringAt({"request", "oldObject", "metadata", "name"}) == "a");
}

}  // namespace sandbox::webhook_caller_test
