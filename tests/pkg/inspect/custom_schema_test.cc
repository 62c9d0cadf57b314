#include "pkg/inspect/custom_schema.h"

#include <catch2/catch.hpp>
#include <string>

#include "pkg/json/value.h"

namespace inspect::custom_schema_test {
namespace {

json::Value Json(const std::string& text) {
  const auto value = json::Parse(text);
  REQUIRE(value.has_value());
  return *value;
}

// A kind with these members of its spec, in the version v1.
json::Value Kind(const std::string& more = "", const std::string& served = "true") {
  return Json(R"({"spec":{"group":"acme.io","names":{"kind":"Box","plural":"boxes"},)" + more +
              R"("versions":[{"name":"v1","served":)" + served +
              R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{
                 "metadata":{"type":"object","properties":{"name":{"type":"string"}}},
                 "spec":{"type":"object","properties":{"size":{"type":"string"}}}}}}}]}})");
}

std::string WhyNot(const json::Value& kind, const std::string& path) {
  const auto parsed = quota::usage::FieldPath::Parse(path);
  REQUIRE(parsed.has_value());
  return WhyNotInSchema(kind, {{"spec.usage[0].path", *parsed}});
}

}  // namespace

TEST_CASE("custom schema: a path is looked for in the schema of the kind", "[inspect]") {
  CHECK(WhyNot(Kind(), ".spec.size") == "");
  CHECK(WhyNot(Kind(), ".spec.siez") ==
        "spec.usage[0].path: spec.siez is not in the schema of Box (acme.io/v1): spec has size");
  CHECK(WhyNot(Kind(), ".spec") ==
        "spec.usage[0].path: by the schema of Box (acme.io/v1) spec is an object, not a value");
  CHECK(WhyNotInSchema(Kind(), {}) == "");
}

TEST_CASE("custom schema: metadata is that of every object", "[inspect]") {
  CHECK(WhyNot(Kind(), ".metadata.labels.tier") == "");
  CHECK(WhyNot(Kind(), ".kind") == "");
}

TEST_CASE("custom schema: what a definition leaves open is not wrong", "[inspect]") {
  CHECK(WhyNot(Kind(R"("preserveUnknownFields":true,)"), ".spec.siez") == "");
  CHECK(WhyNot(Kind(R"("preserveUnknownFields":false,)"), ".spec.siez") != "");
  CHECK(WhyNot(Kind("", "false"), ".spec.siez") == "");
  for (const char* odd :
       {"{}", "[]", R"({"spec":{"versions":3}})", R"({"spec":{"versions":[3,{"served":true}]}})",
        R"({"spec":{"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":[]}}]}})",
        R"({"spec":{"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{
            "properties":[]}}}]}})"}) {
    INFO(odd);
    CHECK(WhyNot(Json(odd), ".spec.size") == "");
  }
  // A schema that refers to itself has an end.
  CHECK(WhyNot(Json(R"({"spec":{"group":"acme.io","names":{"kind":"Box"},"versions":[{"name":"v1",
      "served":true,"schema":{"openAPIV3Schema":{"$ref":"#/components/schemas/kind"}}}]}})"),
               ".spec.size") == "");
}

}  // namespace inspect::custom_schema_test
