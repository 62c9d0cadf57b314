#include "cmd/sandbox-apiserver/request_path.h"

#include <catch2/catch.hpp>

namespace sandbox::request_path_test {
namespace {

ResourcePath Parse(const std::string& target) {
  return ParseResourcePath(http::ParseTarget(target).value().segments).value();
}

std::string VerbText(const std::string& method, const std::string& target) {
  const http::Target parsed = http::ParseTarget(target).value();
  const auto verb = VerbOf(method, ParseResourcePath(parsed.segments).value(), parsed);
  return verb ? std::string(ToString(*verb)) : "405";
}

}  // namespace

TEST_CASE("request path: the parts of a path are found", "[sandbox]") {
  const ResourcePath pod = Parse("/api/v1/namespaces/a/pods/x/status?dryRun=All");
  CHECK(pod.gvr == api::GroupVersionResource{"", "v1", "pods"});
  CHECK(pod.ns == "a");
  CHECK(pod.name == "x");
  CHECK(pod.subresource == "status");

  const ResourcePath everywhere = Parse("/apis/apps/v1/deployments");
  CHECK(everywhere.gvr == api::GroupVersionResource{"apps", "v1", "deployments"});
  CHECK(everywhere.ns.empty());
  CHECK(everywhere.name.empty());
}

TEST_CASE("request path: a namespace is an object and a scope", "[sandbox]") {
  const ResourcePath object = Parse("/api/v1/namespaces/a");
  CHECK(object.gvr.resource == "namespaces");
  CHECK(object.name == "a");
  CHECK(object.ns.empty());

  const ResourcePath finalize = Parse("/api/v1/namespaces/a/finalize");
  CHECK(finalize.gvr.resource == "namespaces");
  CHECK(finalize.subresource == "finalize");

  const ResourcePath inside = Parse("/api/v1/namespaces/a/pods");
  CHECK(inside.gvr.resource == "pods");
  CHECK(inside.ns == "a");
}

TEST_CASE("request path: other paths are not resource paths", "[sandbox]") {
  for (const char* target : {"/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version",
                             "/api/v1/namespaces/a/pods/x/status/more"}) {
    INFO(target);
    CHECK_FALSE(ParseResourcePath(http::ParseTarget(target).value().segments));
  }
}

TEST_CASE("request path: method, name and watch decide the verb", "[sandbox]") {
  CHECK(VerbText("GET", "/api/v1/pods") == "list");
  CHECK(VerbText("GET", "/api/v1/pods?watch=0") == "list");
  CHECK(VerbText("GET", "/api/v1/pods?watch=true") == "watch");
  CHECK(VerbText("GET", "/api/v1/pods?watch=1") == "watch");
  CHECK(VerbText("GET", "/api/v1/namespaces/a/pods/x") == "get");
  CHECK(VerbText("POST", "/api/v1/namespaces/a/pods") == "create");
  CHECK(VerbText("POST", "/api/v1/namespaces/a/pods/x") == "405");
  CHECK(VerbText("PUT", "/api/v1/namespaces/a/pods/x") == "update");
  CHECK(VerbText("PUT", "/api/v1/namespaces/a/pods") == "405");
  CHECK(VerbText("PATCH", "/api/v1/namespaces/a/pods/x/status") == "patch");
  CHECK(VerbText("DELETE", "/api/v1/namespaces/a/pods/x") == "delete");
  CHECK(VerbText("DELETE", "/api/v1/namespaces/a/pods") == "deletecollection");
  CHECK(VerbText("TRACE", "/api/v1/namespaces/a/pods/x") == "405");
}

}  // namespace sandbox::request_path_test
