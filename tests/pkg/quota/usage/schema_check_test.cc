// Excerpts of what kube-apiserver v1.36.3 serves for a CustomResourceDefinition, without
// descriptions.

#include "pkg/quota/usage/schema_check.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/pkg/quota/usage/usage_testing.h"

namespace quota::usage::schema_check_test {
namespace {

constexpr std::string_view kSchemas = R"(
    {"com.example.storage.v1.Bucket":{"type":"object","properties":{"apiVersion":{"type":
    "string"},"kind":{"type":"string"},"metadata":{"allOf":[{"$ref":
    "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},"spec":{"type":
    "object","properties":{"any":{"type":"object","properties":{"known":{"type":"object",
    "properties":{"a":{"type":"string"}}}},"x-kubernetes-preserve-unknown-fields":true},"disks":
    {"type":"array","items":{"type":"object","properties":{"size":{"type":"string"}}}},"empty":
    {"type":"object"},"replicas":{"type":"integer","format":"int32"},"size":{"anyOf":[{"type":
    "integer"},{"type":"string"}],"x-kubernetes-int-or-string":true},"tags":{"type":"object",
    "additionalProperties":{"type":"string"}},"template":{"type":"object","required":["kind",
    "apiVersion"],"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},
    "metadata":{"allOf":[{"$ref":
    "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}},
    "x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"},"replicas":{"type":
    "integer"}}}},"x-kubernetes-group-version-kind":[{"group":"storage.example.com","kind":
    "Bucket","version":"v1"}]},"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":
    "object","properties":{"name":{"type":"string"},"labels":{"type":"object",
    "additionalProperties":{"type":"string","default":""}},"ownerReferences":{"type":"array",
    "items":{"default":{},"allOf":[{"$ref":
    "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"}]},
    "x-kubernetes-list-map-keys":["uid"],"x-kubernetes-list-type":"map",
    "x-kubernetes-patch-merge-key":"uid","x-kubernetes-patch-strategy":"merge"},"generation":
    {"type":"integer","format":"int64"}}},"io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference":
    {"type":"object","required":["apiVersion","kind","name","uid"],"properties":{"apiVersion":
    {"type":"string","default":""},"blockOwnerDeletion":{"type":"boolean"},"controller":{"type":
    "boolean"},"kind":{"type":"string","default":""},"name":{"type":"string","default":""},
    "uid":{"type":"string","default":""}},"x-kubernetes-map-type":"atomic"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions":{"type":"object",
    "x-kubernetes-group-version-kind":[{"group":"","kind":"DeleteOptions","version":"v1"},
    {"group":"admissionregistration.k8s.io","kind":"DeleteOptions","version":"v1"}]}})";

const ServedKind kBucket{"storage.example.com", "v1", "Bucket"};

SchemaDocument Read(std::string_view schemas) {
  auto document = SchemaDocument::Read(std::string(R"({"openapi":"3.0.0","paths":{"/apis":{}},)")
                                           .append(R"("components":{"schemas":)")
                                           .append(schemas)
                                           .append("}}"));
  REQUIRE(document.has_value());
  return std::move(*document);
}

std::string WhyNot(std::string_view path, std::string_view schemas = kSchemas) {
  INFO(path);
  SchemaDocument document = Read(schemas);
  const auto why = document.WhyNot(kBucket, {{"f", Path(path)}});
  REQUIRE(why.has_value());
  return *why;
}

// A schema of the kind with these members of its spec.
std::string WhyNotIn(std::string_view spec, std::string_view path) {
  return WhyNot(path, std::string(R"({"x":{"x-kubernetes-group-version-kind":[{"group":)")
                          .append(R"("storage.example.com","version":"v1","kind":"Bucket"}],)")
                          .append(R"("properties":{"spec":)")
                          .append(spec)
                          .append("}}}"));
}

TEST_CASE("schema check: fields that objects can have", "[usage]") {
  for (const char* path :
       {".spec.size", ".spec.disks[*].size", ".spec.tags.colour", ".status.phase", ".kind",
        ".metadata.name", ".metadata.labels['example.com/tier']",
        ".metadata.ownerReferences[*].name", ".spec.any.known.a", ".spec.any.other.b[*].c",
        ".spec.any.other", ".spec.template.metadata.labels.app", ".spec.template.spec.nodes"}) {
    CHECK(WhyNot(path).empty());
  }
}

TEST_CASE("schema check: fields that they cannot have", "[usage]") {
  CHECK(WhyNot(".spec.siez") ==
        "f: spec.siez is not in the schema of Bucket (storage.example.com/v1): spec has size, any, "
        "disks, empty, replicas, tags, template");
  CHECK(WhyNot(".sepc.size") ==
        "f: sepc is not in the schema of Bucket (storage.example.com/v1): the object has spec, "
        "status, apiVersion, kind, metadata");
  CHECK_THAT(WhyNot(".spec.disks[*].siez"),
             Catch::StartsWith("f: spec.disks[*].siez is not in the schema of"));
  CHECK_THAT(WhyNot(".spec.any.known.b"), Catch::EndsWith("spec.any.known has a"));
  CHECK_THAT(WhyNot(".metadata.lables.a"),
             Catch::EndsWith("metadata has labels, generation, name, ownerReferences"));
  CHECK_THAT(WhyNot(".spec.template.metadata.lables.a"),
             Catch::StartsWith("f: spec.template.metadata.lables is not in the schema"));
}

TEST_CASE("schema check: lists, maps and values", "[usage]") {
  const std::string by = "f: by the schema of Bucket (storage.example.com/v1) ";
  const std::string is_list = " is a list, and the path lacks [*] for its elements";
  CHECK(WhyNot(".spec.disks.size") == by + "spec.disks" + is_list);
  CHECK(WhyNot(".spec.disks") == by + "spec.disks" + is_list);
  CHECK(WhyNot(".spec[*].size") == by + "spec is no list, so it has no [*]");
  CHECK(WhyNot(".spec.size[*]") == by + "spec.size is no list, so it has no [*]");
  CHECK(WhyNot(".spec.replicas.max") == by + "spec.replicas is a value, which has no members");
  CHECK(WhyNot(".spec.size.max") == by + "spec.size is a value, which has no members");
  CHECK(WhyNot(".spec") == by + "spec is an object, not a value");
  CHECK(WhyNot(".spec.tags") == by + "spec.tags is an object, not a value");
}

TEST_CASE("schema check: what is not known is no mistake", "[usage]") {
  CHECK(WhyNot(".spec.empty.any").empty());
  CHECK(WhyNotIn("{}", ".spec.size").empty());
  CHECK(WhyNotIn(R"({"type":"object","properties":{}})", ".spec.size").empty());
  CHECK(WhyNotIn(R"({"type":"array"})", ".spec[*].size").empty());
  CHECK(WhyNotIn(R"({"additionalProperties":true,"properties":{"a":{}}})", ".spec.b.c").empty());
  CHECK(WhyNotIn(R"({"$ref":"#/components/schemas/gone"})", ".spec.size").empty());
  CHECK(WhyNotIn(R"({"$ref":"https://example.com/a"})", ".spec.size").empty());
  CHECK(WhyNotIn(R"("no schema")", ".spec.size").empty());
  CHECK(WhyNotIn(R"({"$ref":7,"allOf":{},"properties":[]})", ".spec.size").empty());
  // A schema of an alternative.
  const char* const spec = R"({"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]})";
  CHECK(WhyNotIn(spec, ".spec.a").empty());
  CHECK(WhyNotIn(spec, ".spec.b").empty());
  CHECK_FALSE(WhyNotIn(spec, ".spec.c").empty());
  // One that contains itself, and one that is nothing else.
  const char* const self = R"({"properties":{"spec":{"$ref":"#/components/schemas/x"}}})";
  CHECK_THAT(WhyNotIn(self, ".spec.spec.spec.a"), Catch::EndsWith("spec.spec.spec has spec"));
  const char* const all_of = R"({"allOf":[{"$ref":"#/components/schemas/x"}]})";
  CHECK_THAT(WhyNotIn(all_of, ".spec.spec.a"), Catch::EndsWith("spec.spec has spec"));
  const std::string endless = R"({"a":{"$ref":"#/components/schemas/a",)"
                              R"("x-kubernetes-group-version-kind":[{"group":)"
                              R"("storage.example.com","version":"v1","kind":"Bucket"}]}})";
  CHECK(WhyNot(".spec.size", endless).empty());
}

TEST_CASE("schema check: a document without the kind, or that is none", "[usage]") {
  SchemaDocument document = Read(kSchemas);
  for (const ServedKind& kind :
       {ServedKind{"storage.example.com", "v2", "Bucket"},
        ServedKind{"storage.example.com", "v1", "Tier"}, ServedKind{"", "v1", "Bucket"}}) {
    const auto why = document.WhyNot(kind, {{"f", Path(".spec.size")}});
    REQUIRE_FALSE(why.has_value());
    CHECK(why.error().code == base::ErrorCode::kNotFound);
  }
  CHECK(Read("[]").WhyNot(kBucket, {}).error().code == base::ErrorCode::kNotFound);
  CHECK_FALSE(SchemaDocument::Read("<html>").has_value());
  CHECK_FALSE(SchemaDocument::Read("").has_value());
}

TEST_CASE("schema check: a message names a few members, and no long ones", "[usage]") {
  std::string members;
  for (int i = 10; i < 99; ++i) members += R"("m)" + std::to_string(i) + R"(":{},)";
  const std::string spec =
      R"({"properties":{)" + members + "\"" + std::string(500, 'm') + R"(":{}}})";
  const std::string why = WhyNotIn(spec, ".spec.m98x");
  CHECK_THAT(why, Catch::Contains(": spec has m98, m90, "));
  CHECK_THAT(why, Catch::EndsWith(" and others"));
  CHECK(why.size() < 300);
  CHECK(WhyNotIn(spec, ".spec." + std::string(400, 'm')).size() < 1200);
}

TEST_CASE("schema check: the paths of a definition", "[usage]") {
  const UsageDefinition all = Defined(R"("usage":[
      {"name":"acme.io/bytes","path":".spec.size","times":".spec.replicas"},
      {"name":"acme.io/iops","class":{"path":".spec.tier","field":".spec.iops","resource":
        {"group":"acme.io","resource":"tiers"}}}],
      "countsWhile":{"path":".status.phase","in":["Bound"]},
      "scopes":[{"name":"acme.io/tier","path":".spec.tier"}])");
  std::string text;
  for (const auto& one : PathsInObjects(all)) text += one.field + "=" + one.path.ToString() + "\n";
  CHECK(text ==
        "spec.usage[0].path=spec.size\nspec.usage[0].times=spec.replicas\n"
        "spec.usage[1].class.path=spec.tier\nspec.countsWhile.path=status.phase\n"
        "spec.scopes[0].path=spec.tier\n");
  REQUIRE(PathsInClass(all).size() == 1);
  CHECK(PathsInClass(all)[0] == NamedPath{"spec.usage[1].class.field", Path(".spec.iops")});
  CHECK(ServedKind{"", "v1", "Pod"}.Document() == "/openapi/v3/api/v1");
  CHECK(kBucket.Document() == "/openapi/v3/apis/storage.example.com/v1");
}

}  // namespace
}  // namespace quota::usage::schema_check_test
