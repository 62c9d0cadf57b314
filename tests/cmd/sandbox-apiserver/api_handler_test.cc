#include "cmd/sandbox-apiserver/api_handler.h"

#include "tests/cmd/sandbox-apiserver/api_fixture.h"

namespace sandbox::api_handler_test {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr const char* kCrd = R"({
  "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"widgets.example.com"},
  "spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

std::string Reason(const http::Response& response) {
  return std::string(json::Parse(response.body).value().StringAt({"reason"}));
}

}  // namespace

TEST_CASE_METHOD(ApiFixture, "api: only health and version need no credentials", "[sandbox]") {
  const http::Headers wrong{{"Authorization", "Bearer wrong"}};
  CHECK(Ask("GET", "/healthz", "", wrong).body == "ok");
  CHECK(Ask("GET", "/readyz", "", wrong).status == 200);
  CHECK(Json(Ask("GET", "/version", "", wrong)).StringAt({"major"}) == "1");
  const http::Response refused = Ask("GET", "/api/v1/pods", "", wrong);
  CHECK(refused.status == 401);
  CHECK(Reason(refused) == "Unauthorized");
  CHECK(Ask("GET", "/sandbox/faults", "", wrong).status == 401);
}

TEST_CASE_METHOD(ApiFixture, "api: metadata of other types do not decode", "[sandbox]") {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const auto make = [&](const std::string& metadata) {
    return Ask("POST", maps, R"({"metadata":{"name":"a",)" + metadata + "}}");
  };
  REQUIRE(make(R"("labels":{"x":null},"annotations":null,"finalizers":[null],"generation":null)")
              .status == 201);
  struct Row {
    const char* metadata;
    const char* why;
  };
  const Row rows[] = {
      {R"("labels":["x"])", "array into Go struct field ObjectMeta.metadata.labels of type map["},
      {R"("labels":{"x":true})", "bool into Go struct field ObjectMeta.metadata.labels of type s"},
      {R"("annotations":{"x":1})", "number into Go struct field ObjectMeta.metadata.annotations"},
      {R"("finalizers":"x")",
       "string into Go struct field ObjectMeta.metadata.finalizers of type "},
      {R"("finalizers":[1])",
       "number into Go struct field ObjectMeta.metadata.finalizers of type "},
      {R"("ownerReferences":{})", "object into Go struct field ObjectMeta.metadata.ownerReferenc"},
      {R"("ownerReferences":[{"controller":"true"}])",
       "string into Go struct field ObjectMeta.metadata.ownerReferences.controller of type bool"},
      {R"("managedFields":[1])", "number into Go struct field ObjectMeta.metadata.managedFields"},
      {R"("generateName":1)", "number into Go struct field ObjectMeta.metadata.generateName of ty"},
      {R"("generation":"1")",
       "string into Go struct field ObjectMeta.metadata.generation of type"}};
  for (const Row& row : rows) {
    INFO(row.metadata);
    const http::Response made = make(row.metadata);
    CHECK(made.status == 400);
    CHECK_THAT(std::string(Json(made).StringAt({"message"})),
               Catch::StartsWith("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: "
                                 "json: cannot unmarshal ") &&
                   Catch::Contains(row.why));
    const std::string body = std::string(R"({"metadata":{"name":"a",)") + row.metadata + "}}";
    CHECK(Ask("PUT", maps + "/a", body).status == 400);
    const http::Response patched =
        Ask("PATCH", maps + "/a", body, {{"Content-Type", "application/merge-patch+json"}});
    CHECK(patched.status == 422);
    CHECK_THAT(std::string(Json(patched).StringAt({"message"})), Catch::Contains(row.why));
  }
}

TEST_CASE_METHOD(ApiFixture, "api: options that upstream refuses", "[sandbox]") {
  MakePod("a");
  MakePod("b");
  const std::string pods = kPods;
  const std::string token(Json(Ask("GET", pods + "?limit=1")).StringAt({"metadata", "continue"}));
  const auto list = [&](const std::string& query) { return Ask("GET", pods + "?" + query).status; };
  CHECK(list("continue=" + token) == 200);
  CHECK(list("continue=" + token + "&resourceVersion=0") == 200);
  CHECK(list("continue=" + token + "&resourceVersion=1") == 400);
  CHECK(list("continue=" + token + "&resourceVersion=1&resourceVersionMatch=Exact") == 422);
  CHECK(list("resourceVersion=1&resourceVersionMatch=NotOlderThan") == 200);
  CHECK(list("resourceVersion=0&resourceVersionMatch=NotOlderThan") == 200);
  CHECK(list("resourceVersion=0&resourceVersionMatch=Exact") == 422);
  CHECK(list("resourceVersion=1&resourceVersionMatch=exact") == 422);
  CHECK(list("resourceVersionMatch=NotOlderThan") == 422);
  CHECK(list("sendInitialEvents=true") == 422);

  const http::Response bogus = Ask("PUT", pods + "/a?fieldValidation=bogus", "{}");
  CHECK(bogus.status == 422);
  CHECK(Json(bogus).StringAt({"message"}) ==
        "UpdateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"bogus\": "
        "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
  const auto remove = [&](const std::string& query, const std::string& body) {
    return Ask("DELETE", pods + "/a" + query, body).status;
  };
  CHECK(remove("", R"({"dryRun":["All","Some"]})") == 422);
  CHECK(remove("", R"({"dryRun":"All"})") == 400);
  CHECK(remove("", R"({"dryRun":[1]})") == 400);
  CHECK(remove("?dryRun=Some", "") == 422);
  CHECK(remove("?propagationPolicy=Sideways", "") == 422);
  CHECK(remove("", R"({"dryRun":["All"]})") == 200);
  CHECK(Ask("GET", pods + "/a").status == 200);
}

TEST_CASE_METHOD(ApiFixture, "api: an object is created, read, changed and deleted", "[sandbox]") {
  MakePod("a");
  const std::string path = std::string(kPods) + "/a";
  CHECK(Json(Ask("GET", path)).StringAt({"kind"}) == "Pod");

  const http::Response patched = Ask("PATCH", path, R"({"metadata":{"labels":{"x":"1"}}})",
                                     {{"Content-Type", "application/merge-patch+json"}});
  CHECK(patched.status == 200);
  CHECK(Json(patched).StringAt({"metadata", "labels", "x"}) == "1");

  json::Value object = Json(patched);
  object.Make({"metadata", "resourceVersion"}) = "1";
  const http::Response stale = Ask("PUT", path, json::Write(object));
  CHECK(stale.status == 409);
  CHECK(Reason(stale) == "Conflict");

  const http::Response deleted =
      Ask("DELETE", path, R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
  CHECK(deleted.status == 200);
  const http::Response gone = Ask("GET", path);
  CHECK(gone.status == 404);
  CHECK(Json(gone).StringAt({"message"}) == "pods \"a\" not found");
}

TEST_CASE_METHOD(ApiFixture, "api: each kind of invalid path has its own error", "[sandbox]") {
  CHECK(Ask("GET", "/nonsense").body == "404 page not found\n");
  CHECK(Ask("GET", "/api/v1/nonsense").status == 404);
  CHECK(Ask("GET", "/api/v1/namespaces/default/nodes").status == 404);
  CHECK(Ask("GET", "/api/v1/pods/a").status == 404);
  CHECK(Ask("GET", std::string(kPods) + "/a/nonsense").status == 404);
  CHECK(Ask("POST", std::string(kPods) + "/a", "{}").status == 405);
  CHECK(Ask("TRACE", std::string(kPods) + "/a").status == 405);
}

TEST_CASE_METHOD(ApiFixture, "api: unknown content types are refused", "[sandbox]") {
  CHECK(Ask("POST", kPods, "x", {{"Content-Type", "application/cbor"}}).status == 415);
  CHECK(Ask("GET", kPods, "", {{"Accept", "application/vnd.kubernetes.protobuf"}}).status == 406);
  CHECK(Ask("POST", kPods, "{").status == 400);
  CHECK(Ask("POST", kPods, "[]").status == 400);
  CHECK(Ask("POST", kPods, std::string((3 << 20) + 1, ' ')).status == 413);
  CHECK(Ask("POST", std::string(kPods) + "?dryRun=Some", "{}").status == 422);
  CHECK(Ask("DELETE", std::string(kPods) + "/a?propagationPolicy=Orphan").status == 400);
  CHECK(Ask("PATCH", std::string(kPods) + "/a", "{}", {{"Content-Type", "application/json"}})
            .status == 415);
}

TEST_CASE_METHOD(ApiFixture, "api: a list as objects, as metadata and as a table", "[sandbox]") {
  MakePod("a");
  const json::Value list = Json(Ask("GET", kPods));
  CHECK(list.StringAt({"kind"}) == "PodList");
  CHECK(list.StringAt({"metadata", "resourceVersion"}) == CurrentVersion());
  REQUIRE(list.At({"items"})->AsArray()->size() == 1);
  CHECK(list.At({"items"})->AsArray()->front().At({"kind"}) == nullptr);

  const json::Value metadata =
      Json(Ask("GET", kPods, "",
               {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}}));
  CHECK(metadata.StringAt({"kind"}) == "PartialObjectMetadataList");
  CHECK(metadata.At({"items"})->AsArray()->front().At({"spec"}) == nullptr);

  const json::Value table =
      Json(Ask("GET", kPods, "", {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}}));
  CHECK(table.StringAt({"kind"}) == "Table");
  CHECK(table.At({"rows"})->AsArray()->size() == 1);

  CHECK(Json(Ask("GET", "/api/v1/namespaces/default/secrets")).At({"items"})->AsArray()->empty());
}

TEST_CASE_METHOD(ApiFixture, "api: a collection is deleted by selector", "[sandbox]") {
  MakePod("a", R"({"x":"1"})");
  MakePod("b");
  const http::Response deleted =
      Ask("DELETE", std::string(kPods) + "?labelSelector=x%3D1&gracePeriodSeconds=0");
  CHECK(Json(deleted).At({"items"})->AsArray()->size() == 1);
  CHECK(Ask("GET", std::string(kPods) + "/a").status == 404);
  CHECK(Ask("GET", std::string(kPods) + "/b").status == 200);
}

TEST_CASE_METHOD(ApiFixture, "api: deleting a namespace deletes its contents", "[sandbox]") {
  REQUIRE(Ask("POST", "/api/v1/namespaces",
              R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})")
              .status == 201);
  REQUIRE(Ask("POST", "/api/v1/namespaces/n/configmaps",
              R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})")
              .status == 201);
  CHECK(Ask("DELETE", "/api/v1/namespaces/n").status == 200);
  scheduler_.RunFor(std::chrono::seconds(10));
  CHECK(Ask("GET", "/api/v1/namespaces/n").status == 404);
  CHECK(Ask("GET", "/api/v1/namespaces/n/configmaps/c").status == 404);
}

TEST_CASE_METHOD(ApiFixture, "api: reviews are answered, not stored", "[sandbox]") {
  const auto review = [this](const char* path, const char* body) {
    return Json(Ask("POST", path, body));
  };
  const json::Value known =
      review("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"secret"}})");
  CHECK(known.At({"status", "authenticated"})->AsBool() == true);
  CHECK(known.StringAt({"status", "user", "username"}) == "admin");
  const json::Value unknown =
      review("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"x"}})");
  CHECK(unknown.At({"status", "authenticated"}) == nullptr);
  const json::Value access = review("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                    R"({"spec":{"resourceAttributes":{"verb":"get"}}})");
  CHECK(access.At({"status", "allowed"})->AsBool() == true);
}

TEST_CASE_METHOD(ApiFixture, "api: groups are discovered with a tag, versions alone, too",
                 "[sandbox]") {
  CHECK(Json(Ask("GET", "/api")).StringAt({"kind"}) == "APIGroupDiscoveryList");
  CHECK(Json(Ask("GET", "/apis/apps/v1")).StringAt({"groupVersion"}) == "apps/v1");
  CHECK(Ask("GET", "/apis/nonsense/v1").status == 404);

  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const http::Response whole = Ask("GET", "/apis", "", {{"Accept", accept}});
  CHECK(whole.headers.Get("Content-Type") == kAggregated);
  const std::string tag(whole.headers.Get("ETag"));
  const http::Response same = Ask("GET", "/apis", "", {{"Accept", accept}, {"If-None-Match", tag}});
  CHECK(same.status == 304);
  CHECK(same.body.empty());

  REQUIRE(Ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kCrd).status ==
          201);
  const http::Response changed =
      Ask("GET", "/apis", "", {{"Accept", accept}, {"If-None-Match", tag}});
  CHECK(changed.status == 200);
  CHECK(changed.body.find("\"widgets\"") != std::string::npos);
  CHECK(Ask("GET", "/apis/example.com/v1/widgets").status == 200);
}

TEST_CASE_METHOD(ApiFixture, "api: a group whose server is away is stale and answers 503",
                 "[sandbox]") {
  REQUIRE(Ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kCrd).status ==
          201);
  const RecordingWriter& watch = Open("GET", "/apis/example.com/v1/widgets?watch=1");
  const auto versions = [this](const std::string& group) {
    const json::Value list = Json(
        Ask("GET", "/apis", "",
            {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}));
    for (const json::Value& item : *list.At({"items"})->AsArray()) {
      if (item.StringAt({"metadata", "name"}) == group) return json::Write(*item.At({"versions"}));
    }
    return std::string();
  };
  Inject(R"([{"fault":"stale-group","group":"example.com"},
             {"fault":"stale-group","group":"metrics.test","version":"v1beta1"}])");
  scheduler_.RunUntilIdle();
  CHECK(watch.finished);
  CHECK(versions("example.com") == R"([{"version":"v1","freshness":"Stale"}])");
  CHECK(versions("metrics.test") == R"([{"version":"v1beta1","freshness":"Stale"}])");
  CHECK(Ask("GET", "/apis/metrics.test/v1beta1").status == 503);
  CHECK(Ask("GET", "/apis/example.com/v1/widgets").status == 503);
  CHECK(Ask("GET", "/apis/apps/v1/deployments").status == 200);

  Ask("DELETE", "/sandbox/faults");
  CHECK(Ask("GET", "/apis/example.com/v1/widgets").status == 200);
  CHECK(versions("metrics.test").empty());
}

TEST_CASE_METHOD(ApiFixture, "api: requests are counted by verb, resource and code", "[sandbox]") {
  MakePod("a");
  Ask("GET", std::string(kPods) + "/nope");
  const json::Value counted = Json(Ask("GET", "/sandbox/requests"));
  CHECK(json::Write(*counted.At({"requests"})) ==
        R"([{"verb":"create","group":"","resource":"pods","subresource":"","code":201,"count":1},)"
        R"({"verb":"get","group":"","resource":"pods","subresource":"","code":404,"count":1}])");
  Ask("DELETE", "/sandbox/requests");
  CHECK(Json(Ask("GET", "/sandbox/requests")).At({"requests"})->AsArray()->empty());
}

TEST_CASE_METHOD(ApiFixture, "api: an answer fault sets code and Retry-After", "[sandbox]") {
  MakePod("a");
  Inject(R"([{"fault":"answer","verb":"list","resource":"pods","code":429,"retryAfterSeconds":3},
             {"fault":"replace-body","verb":"list","resource":"pods","body":"<html>",
              "contentType":"text/html"},
             {"fault":"truncate-body","verb":"list","resource":"pods","bytes":10}])");
  const http::Response busy = Ask("GET", kPods);
  CHECK(busy.status == 429);
  CHECK(busy.headers.Get("Retry-After") == "3");
  const http::Response html = Ask("GET", kPods);
  CHECK(html.body == "<html>");
  CHECK(html.headers.Get("Content-Type") == "text/html");
  const RecordingWriter& cut = Open("GET", kPods);
  CHECK(cut.aborted);
  CHECK(cut.response.body.size() == 10);
  CHECK(Json(Ask("GET", kPods)).StringAt({"metadata", "resourceVersion"}) == CurrentVersion());
}

TEST_CASE_METHOD(ApiFixture, "api: a slow body is sent piece by piece", "[sandbox]") {
  Inject(R"({"fault":"slow-body","verb":"list","resource":"pods","delay":"1s","bytes":40})");
  RecordingWriter& slow = Open("GET", kPods);
  CHECK(slow.response.body.empty());
  scheduler_.RunFor(std::chrono::milliseconds(1500));
  CHECK(slow.response.body.size() == 40);
  CHECK_FALSE(slow.finished);
  scheduler_.RunFor(std::chrono::minutes(1));
  CHECK(slow.finished);
  CHECK(json::Parse(slow.response.body));
}

TEST_CASE_METHOD(ApiFixture, "api: an invalid fault changes nothing", "[sandbox]") {
  const http::Response refused =
      Ask("POST", "/sandbox/faults",
          R"([{"fault":"answer","code":500,"times":-1},{"fault":"nonsense"}])");
  CHECK(refused.status == 400);
  CHECK(Ask("GET", kPods).status == 200);
}

TEST_CASE_METHOD(ApiFixture, "api: the schema of a custom kind is served", "[sandbox]") {
  Ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kCrd);
  const json::Value document = Json(Ask("GET", "/openapi/v3/apis/example.com/v1"));
  const json::Value* schema = document.At({"components", "schemas", "example.com/v1.Widget"});
  REQUIRE(schema != nullptr);
  CHECK(schema->At({"x-kubernetes-preserve-unknown-fields"})->AsBool() == true);
  CHECK(schema->At({"properties", "metadata"}) != nullptr);
  CHECK(json::Write(*schema->At({"x-kubernetes-group-version-kind"})) ==
        R"([{"group":"example.com","version":"v1","kind":"Widget"}])");
}

}  // namespace sandbox::api_handler_test
