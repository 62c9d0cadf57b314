#include "cmd/sandbox-apiserver/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace sandbox::registry_test {
namespace {

ResourceType Widget(std::string version) {
  ResourceType type;
  type.group = "example.com";
  type.version = std::move(version);
  type.resource = "widgets";
  type.kind = "Widget";
  type.custom = true;
  return type;
}

TEST_CASE("registry: the built-in table names each resource once", "[sandbox]") {
  std::set<std::string> seen;
  for (const ResourceType& type : BuiltInTypes()) {
    INFO(type.gvr().ToString());
    CHECK(seen.insert(type.gvr().ToString()).second);
    CHECK(std::is_sorted(type.verbs.begin(), type.verbs.end()));
    CHECK_FALSE(type.kind.empty());
  }
}

TEST_CASE("registry: kubectl's names for quotas are served", "[sandbox]") {
  const Registry registry;
  const TypePtr quota = registry.Find("", "v1", "resourcequotas");
  REQUIRE(quota != nullptr);
  CHECK(quota->kind == "ResourceQuota");
  CHECK(quota->list_kind == "ResourceQuotaList");
  CHECK(quota->singular == "resourcequota");
  CHECK(quota->short_names == std::vector<std::string>{"quota"});
  CHECK(quota->status);
  CHECK(quota->HasVerb("deletecollection"));
  CHECK_FALSE(registry.Find("", "v1", "namespaces")->namespaced);
}

TEST_CASE("registry: reviews can only be created", "[sandbox]") {
  const Registry registry;
  const TypePtr review = registry.Find("authentication.k8s.io", "v1", "tokenreviews");
  REQUIRE(review != nullptr);
  CHECK(review->create_only);
  CHECK(review->verbs == std::vector<std::string>{"create"});
}

TEST_CASE("registry: the generation changes when custom types come and go", "[sandbox]") {
  Registry registry;
  const std::uint64_t before = registry.generation();
  registry.SetCustom("widgets.example.com", {Widget("v1"), Widget("v1beta1")});
  CHECK(registry.generation() > before);
  CHECK(registry.Find("example.com", "v1beta1", "widgets") != nullptr);
  CHECK(registry.FindAny({"example.com", "widgets"})->version == "v1");
  CHECK(registry.Versions("example.com") == std::vector<std::string>{"v1", "v1beta1"});
  CHECK(registry.Groups().back() == "example.com");

  const TypePtr kept = registry.Find("example.com", "v1", "widgets");
  registry.SetCustom("widgets.example.com", {});
  CHECK(registry.Find("example.com", "v1", "widgets") == nullptr);
  CHECK(kept->kind == "Widget");
  const std::uint64_t after = registry.generation();
  registry.SetCustom("widgets.example.com", {});
  CHECK(registry.generation() == after);
}

}  // namespace
}  // namespace sandbox::registry_test
