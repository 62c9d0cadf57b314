#include "pkg/api/resource.h"

#include <catch2/catch.hpp>

namespace api::resource_test {
namespace {

TEST_CASE("resource: names are as in error texts and count/ names", "[api]") {
  CHECK(GroupResource{"", "pods"}.ToString() == "pods");
  CHECK(GroupResource{"apps", "deployments"}.ToString() == "deployments.apps");
  CHECK(GroupVersionResource{"", "v1", "pods"}.ToString() == "pods.v1");
  CHECK(GroupVersionResource{"apps", "v1", "deployments"}.ToString() == "deployments.v1.apps");
  CHECK(GroupVersionResource{"", "v1", "pods"}.GroupVersion() == "v1");
  CHECK(GroupVersionResource{"apps", "v1", "deployments"}.GroupVersion() == "apps/v1");
  CHECK(ObjectKey{"a", "b"}.ToString() == "a/b");
  CHECK(ObjectKey{"", "b"}.ToString() == "b");
}

TEST_CASE("resource: a path leaves out what is empty", "[api]") {
  const GroupVersionResource pods{"", "v1", "pods"};
  const GroupVersionResource deployments{"apps", "v1", "deployments"};
  CHECK(pods.Path() == "/api/v1/pods");
  CHECK(pods.Path("a") == "/api/v1/namespaces/a/pods");
  CHECK(deployments.Path("a", "x", "status") == "/apis/apps/v1/namespaces/a/deployments/x/status");
  CHECK(GroupVersionResource{"", "v1", "nodes"}.Path("", "n") == "/api/v1/nodes/n");
}

}  // namespace
}  // namespace api::resource_test
