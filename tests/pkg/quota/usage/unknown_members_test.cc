#include "pkg/quota/usage/unknown_members.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "pkg/config/yaml.h"
#include "tests/pkg/quota/usage/usage_testing.h"
#include "tests/source_dir.h"

namespace quota::usage::unknown_members_test {
namespace {

TEST_CASE("unknown members: the first one is told with its place", "[usage]") {
  const auto told = [](std::string_view spec) { return UnknownMember(Document(spec)); };
  CHECK(told(R"("usage":[{"name":"a"},{"name":"b","defualt":0}])") ==
        "spec.usage[1].defualt: is no field; there are class, default, format, name, path, times, "
        "timesDefault");
  CHECK(told(R"("usage":[{"class":{"resource":{"kind":"Tier"}}}])") ==
        "spec.usage[0].class.resource.kind: is no field; there are group, resource");
  CHECK(told(R"("countWhile":{})") ==
        "spec.countWhile: is no field; there are countsWhile, invalidAmountPolicy, resource, "
        "scopes, usage");
  CHECK_THAT(told(R"("countsWhile":{"notin":["a"]})"),
             Catch::StartsWith("spec.countsWhile.notin: is no field"));
  CHECK_THAT(told(R"("scopes":[{"path":"a","x":1}])"),
             Catch::StartsWith("spec.scopes[0].x: is no"));
  CHECK(UnknownMember(Json(R"({"sepc":{}})")) ==
        "sepc: is no field; there are apiVersion, kind, metadata, spec, status");
  // What is of another type has no members, and is not told here.
  CHECK(told(R"("usage":7,"scopes":"a","countsWhile":[[1]])").empty());
  CHECK(UnknownMember(Json("[]")).empty());
  CHECK(UnknownMember(Json(R"({"metadata":{"x":1},"status":{"y":2}})")).empty());
}

// An object that has every field of the schema.
json::Value Full(const json::Value& schema) {
  if (const json::Value* items = schema.At({"items"})) return json::Array{Full(*items)};
  const json::Value* properties = schema.At({"properties"});
  if (properties == nullptr) return "text";
  json::Object object;
  for (const auto& [name, below] : *properties->AsObject()) object.Set(name, Full(below));
  return object;
}

TEST_CASE("unknown members: the fields are those of the CRD", "[usage]") {
  std::ifstream file(tests::SourcePath("/manifests/crds/usagedefinition-crd.yaml"));
  const auto crd = config::ParseYaml(std::string{std::istreambuf_iterator<char>(file), {}});
  REQUIRE(crd.has_value());
  const json::Value& schema =
      *crd->ArrayAt({"spec", "versions"}).at(0).At({"schema", "openAPIV3Schema"});
  const json::Value full = Full(schema);
  CHECK(UnknownMember(full).empty());
  CHECK(full.ArrayAt({"spec", "usage"}).at(0).At({"class", "resource", "group"}) != nullptr);
}

}  // namespace
}  // namespace quota::usage::unknown_members_test
