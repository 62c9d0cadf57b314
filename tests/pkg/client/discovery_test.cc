#include "pkg/client/discovery.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"

namespace client::discovery_test {
namespace {

using base::ErrorCode;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Answers by path, from `newer` if the aggregated form is requested; remembers the requests.
class FakeServer final : public ApiClient {
 public:
  struct Answer {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::string etag;
  };
  std::map<std::string, Answer> answers;
  std::map<std::string, Answer> newer;
  std::vector<std::string> asked;
  std::optional<base::Error> away;

  base::Task<base::Result<ApiResponse>> Do(ApiRequest request) override {
    asked.push_back(request.path);
    if (away) co_return *away;
    const bool wants_newer = request.accept.find("apidiscovery") != std::string::npos;
    const auto& known = wants_newer && newer.contains(request.path) ? newer : answers;
    const auto found = known.find(request.path);
    if (found == known.end()) co_return ErrorFromAnswer("GET", request.path, 404, "", "");
    const Answer& answer = found->second;
    ApiResponse response;
    if (!answer.etag.empty() && answer.etag == request.if_none_match) {
      response.status = 304;
      co_return response;
    }
    if (answer.status != 200) {
      co_return ErrorFromAnswer("GET", request.path, answer.status, "", answer.body);
    }
    response.headers.Add("Content-Type", answer.content_type);
    response.headers.Add("ETag", answer.etag);
    response.body = answer.body;
    co_return response;
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(ApiRequest) override {
    co_return base::Error{};
  }
};

base::Result<Discovered> Look(Discovery& discovery) {
  base::asio::io_context io;
  const Running<base::Result<Discovered>> running(io, [&discovery] { return discovery.Look(); });
  io.run();
  return running.value();
}

// "pods.v1 Pod namespaced preferred"
std::vector<std::string> Lines(const Discovered& discovered) {
  std::vector<std::string> lines;
  for (const ApiResource& resource : discovered.resources) {
    lines.push_back(resource.gvr.GroupVersion() + "/" + resource.gvr.resource + " " +
                    resource.kind + (resource.namespaced ? " namespaced" : "") +
                    (resource.preferred ? " preferred" : ""));
  }
  return lines;
}

std::vector<std::string> Failed(const Discovered& discovered) {
  std::vector<std::string> names;
  for (const GroupVersion& version : discovered.failed) names.push_back(version.ToString());
  return names;
}

using Strings = std::vector<std::string>;

constexpr const char* kCore =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",
 "items":[{"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","freshness":"Current",
  "resources":[
   {"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced",
    "singularResource":"pod","shortNames":["po"],
    "verbs":["create","list","watch","delete"],"subresources":[{"subresource":"status"},{"subresource":"resize"}]},
   {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["list"]}]}]}]})";

constexpr const char* kGroups =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",
 "items":[
  {"metadata":{"name":"autoscaling"},"versions":[
    {"version":"v2","freshness":"Current","resources":[
      {"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","verbs":["list"]}]},
    {"version":"v1","freshness":"Current","resources":[
      {"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","verbs":["list"]},
      {"resource":"olds","responseKind":{"kind":"Old"},"scope":"Namespaced","verbs":["list"]},
      {"resource":"hollow","responseKind":null,"subresources":[{"subresource":"x"}]}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale","resources":[
      {"resource":"pods","responseKind":{"kind":"PodMetrics"},"scope":"Namespaced","verbs":["list"]}]}]}]})";

FakeServer AggregatedServer() {
  FakeServer server;
  server.newer["/api"] = {200, kCore, kAggregated, "\"C1\""};
  server.newer["/apis"] = {200, kGroups, kAggregated, "\"G1\""};
  return server;
}

TEST_CASE("discovery: the aggregated form takes two requests", "[client]") {
  FakeServer server = AggregatedServer();
  Discovery discovery(server);
  const auto found = Look(discovery);
  REQUIRE(found);
  CHECK(server.asked == Strings{"/api", "/apis"});
  const std::string scalers = "horizontalpodautoscalers HorizontalPodAutoscaler namespaced";
  CHECK(Lines(*found) == Strings{
                             "v1/pods Pod namespaced preferred",
                             "v1/nodes Node preferred",
                             "autoscaling/v2/" + scalers + " preferred",
                             "autoscaling/v1/" + scalers,
                             "autoscaling/v1/olds Old namespaced preferred",
                         });
  CHECK(found->resources[0].Has("watch"));
  CHECK_FALSE(found->resources[1].Has("watch"));
  CHECK(found->resources[0].subresources == Strings{"status", "resize"});
  CHECK(found->resources[0].singular == "pod");
  CHECK(found->resources[0].short_names == Strings{"po"});
  CHECK(found->resources[1].singular.empty());
  CHECK(found->resources[1].short_names.empty());
}

TEST_CASE("discovery: a stale group version is failed, not absent", "[client]") {
  FakeServer server = AggregatedServer();
  Discovery discovery(server);
  CHECK(Failed(Look(discovery).value()) == Strings{"metrics.k8s.io/v1beta1"});
}

TEST_CASE("discovery: unchanged answers come from the cache", "[client]") {
  FakeServer server = AggregatedServer();
  Discovery discovery(server);
  const auto first = Look(discovery);
  server.newer["/apis"].body = "not to be read";
  const auto second = Look(discovery);
  REQUIRE(second);
  CHECK(Lines(*second) == Lines(*first));
  CHECK(Failed(*second) == Failed(*first));
  server.newer["/apis"] = {200, R"({"kind":"APIGroupDiscoveryList","items":[]})", kAggregated,
                           "\"G2\""};
  CHECK(Look(discovery)->resources.size() == 2);
}

TEST_CASE("discovery: a failure is an error and keeps the cache", "[client]") {
  FakeServer server = AggregatedServer();
  Discovery discovery(server);
  REQUIRE(Look(discovery));
  SECTION("the server is away") {
    server.away = base::Error{.code = ErrorCode::kUnavailable, .message = "refused"};
    CHECK(Look(discovery).error().message == "discovery: refused");
    server.away.reset();
  }
  SECTION("the groups are not to be had") {
    server.newer["/apis"] = {500, "", "", ""};
    CHECK(Look(discovery).error().code == ErrorCode::kUnavailable);
    server.newer["/apis"] = {200, kGroups, kAggregated, "\"G1\""};
  }
  SECTION("nonsense") {
    for (const char* body : {"{", "[]", R"({"kind":"APIGroupDiscoveryList","items":{}})",
                             R"({"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]})"}) {
      server.newer["/apis"] = {200, body, kAggregated, "\"G9\""};
      CHECK(Look(discovery).error().code == ErrorCode::kMalformed);
    }
    server.newer["/apis"] = {200, kGroups, kAggregated, "\"G1\""};
  }
  CHECK(Look(discovery)->resources.size() == 5);
}

TEST_CASE("discovery: a server without the core group is supported", "[client]") {
  FakeServer server = AggregatedServer();
  server.newer.erase("/api");
  Discovery discovery(server);
  CHECK(Look(discovery)->resources.size() == 3);
}

TEST_CASE("discovery: a server that had the core group does not lose it by a 404", "[client]") {
  FakeServer server = AggregatedServer();
  const auto newer = server.newer["/api"];
  Discovery discovery(server);
  CHECK(Look(discovery)->resources.size() == 5);
  server.newer.erase("/api");
  const auto lost = Look(discovery);
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().Is(base::ErrorCode::kNotFound));
  server.newer["/api"] = newer;
  CHECK(Look(discovery)->resources.size() == 5);
}

FakeServer LegacyServer() {
  FakeServer server;
  server.answers["/api"].body = R"({"kind":"APIVersions","versions":["v1"]})";
  server.answers["/apis"].body = R"({"kind":"APIGroupList","groups":[
    {"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},
                               {"groupVersion":"apps/v1","version":"v1"}],
     "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
    {"name":"gone.io","versions":[{"groupVersion":"gone.io/v1","version":"v1"}]},
    {"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}]}]})";
  server.answers["/api/v1"].body = R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
    {"name":"pods","singularName":"pod","shortNames":["po"],"namespaced":true,"kind":"Pod","verbs":["list","watch"]},
    {"name":"pods/status","namespaced":true,"kind":"Pod","verbs":["get"]},
    {"name":"nodes","namespaced":false,"kind":"Node","verbs":["list"]}]})";
  server.answers["/apis/apps/v1"].body = R"({"kind":"APIResourceList","resources":[
    {"name":"deployments","namespaced":true,"kind":"Deployment","verbs":["list"]}]})";
  server.answers["/apis/apps/v1beta1"] = server.answers["/apis/apps/v1"];
  server.answers["/apis/metrics.k8s.io/v1beta1"] = {503, "", "", ""};
  return server;
}

TEST_CASE("discovery: the older form is used if the server supports no other", "[client]") {
  FakeServer server = LegacyServer();
  SECTION("for nothing") {}
  SECTION("for the core only") { server.newer["/api"] = {200, kCore, kAggregated, "\"C1\""}; }
  SECTION("for the groups only") { server.newer["/apis"] = {200, kGroups, kAggregated, "\"G1\""}; }
  SECTION("and refuses to be asked for it") { server.newer["/api"] = {406, "", "", ""}; }
  Discovery discovery(server);
  const auto found = Look(discovery);
  REQUIRE(found);
  CHECK(Lines(*found) == Strings{"v1/pods Pod namespaced preferred", "v1/nodes Node preferred",
                                 "apps/v1/deployments Deployment namespaced preferred",
                                 "apps/v1beta1/deployments Deployment namespaced"});
  CHECK(found->resources[0].subresources == Strings{"status"});
  CHECK(found->resources[0].singular == "pod");
  CHECK(found->resources[0].short_names == Strings{"po"});
  CHECK(found->resources[1].short_names.empty());
  CHECK(Failed(*found) == Strings{"gone.io/v1", "metrics.k8s.io/v1beta1"});
}

TEST_CASE("discovery: the content type decides, in any order of its parameters", "[client]") {
  CHECK(IsAggregated(kAggregated));
  CHECK(IsAggregated(
      "application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io; charset=utf-8"));
  CHECK_FALSE(
      IsAggregated("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"));
  CHECK_FALSE(IsAggregated("application/json"));
  CHECK_FALSE(IsAggregated(""));
}

}  // namespace
}  // namespace client::discovery_test
