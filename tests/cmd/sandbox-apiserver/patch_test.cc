#include "cmd/sandbox-apiserver/patch.h"

#include <catch2/catch.hpp>

#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::patch_test {
namespace {

using json::Value;

Value Json(std::string_view target, std::string_view patch) {
  auto result = ApplyJsonPatch(J(target), J(patch));
  return result ? *result : Value(result.error().code);
}

Value Strategic(std::string_view target, std::string_view patch) {
  auto result = ApplyStrategicMergePatch(J(target), J(patch));
  return result ? *result : Value(result.error().code);
}

TEST_CASE("json patch: each operation is applied", "[sandbox]") {
  CHECK(Json(R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])") == J(R"({"a":1,"b":2})"));
  CHECK(Json(R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])") ==
        J(R"({"a":[1,2,3]})"));
  CHECK(Json(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])") == J(R"({"a":[1,2]})"));
  CHECK(Json(R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])") == J(R"({"a":[2]})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])") == J(R"({"a":null})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])") == J(R"({"a":1})"));
  CHECK(Json(R"({"x/y~1":1})", R"([{"op":"remove","path":"/x~1y~01"}])") == J("{}"));
  CHECK(Json(R"({"\u0001":1,"~":2})", R"([{"op":"remove","path":"/\u0001"}])") == J(R"({"~":2})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"replace","path":"","value":[]}])") == J("[]"));
}

TEST_CASE("json patch: a patch that does not apply is 422, a malformed one 400", "[sandbox]") {
  CHECK(Json(R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])") == Value(422));
  CHECK(Json(R"({"a":1})", R"([{"op":"remove","path":"/b"}])") == Value(422));
  CHECK(Json(R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])") == Value(422));
  CHECK(Json(R"({"a":1})", R"([{"op":"add","path":"/b/c","value":1}])") == Value(422));
  CHECK(Json(R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])") == Value(422));
  CHECK(Json(R"({"a":[1]})", R"([{"op":"remove","path":"/a/01"}])") == Value(422));
  CHECK(Json(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])") == Value(422));
  CHECK(Json(R"({"a":1})", R"([{"op":"remove"}])") == Value(400));
  CHECK(Json(R"({"a":1})", R"([{"op":"remove","path":"a"}])") == Value(400));
  CHECK(Json(R"({"a":1})", R"({})") == Value(400));
}

TEST_CASE("merge patch: null removes, lists are replaced, the rest merges", "[sandbox]") {
  CHECK(ApplyMergePatch(J(R"({"a":{"b":1,"c":2},"l":[1,2]})"),
                        J(R"({"a":{"b":null,"d":{"e":null,"f":1}},"l":[3]})")) ==
        J(R"({"a":{"c":2,"d":{"f":1}},"l":[3]})"));
  CHECK(ApplyMergePatch(J(R"({"a":[1]})"), J(R"({"a":{"b":1}})")) == J(R"({"a":{"b":1}})"));
  CHECK(ApplyMergePatch(J("{}"), J("7")) == J("7"));
}

TEST_CASE("strategic merge: containers, ports and env merge by key", "[sandbox]") {
  CHECK(Strategic(R"({"spec":{"containers":[{"name":"a","image":"1","ports":[{"containerPort":80}],
                      "env":[{"name":"X","value":"1"}]},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,
                      "name":"http"}],"env":[{"name":"Y","value":"2"}]},{"name":"c"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,
              "name":"http"}],"env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]},
              {"name":"b"},{"name":"c"}]}})"));
  CHECK(Strategic(R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":90}]}})",
                  R"({"spec":{"ports":[{"port":80,"name":"b"}]}})") ==
        J(R"({"spec":{"ports":[{"port":80,"name":"b"},{"port":90}]}})"));
  CHECK(Strategic(R"({"spec":{"tolerations":[{"key":"a"}]}})",
                  R"({"spec":{"tolerations":[{"key":"b"}]}})") ==
        J(R"({"spec":{"tolerations":[{"key":"b"}]}})"));
}

TEST_CASE("strategic merge: $patch deletes and replaces", "[sandbox]") {
  const char* pod = R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})";
  CHECK(Strategic(pod, R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"b"}]}})"));
  CHECK(Strategic(pod, R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"c"}]}})"));
  CHECK(Strategic(R"({"data":{"a":"1","b":"2"}})", R"({"data":{"$patch":"replace","c":"3"}})") ==
        J(R"({"data":{"c":"3"}})"));
  CHECK(Strategic(R"({"data":{"a":"1"},"x":1})", R"({"data":{"$patch":"delete"}})") ==
        J(R"({"x":1})"));
  CHECK(Strategic(R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":null}})") ==
        J(R"({"data":{"b":"2"}})"));
  CHECK(Strategic(pod, R"({"spec":{"$patch":"explode"}})") == Value(400));
  CHECK(Strategic(pod, R"({"spec":{"containers":[{"image":"2"}]}})") == Value(400));
}

TEST_CASE("strategic merge: directives leave no trace", "[sandbox]") {
  CHECK(Strategic(R"({})",
                  R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[
                      {"name":"a","x":null},{"name":"z","$patch":"delete"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"a"}]}})"));
}

TEST_CASE("strategic merge: an order is ignored, other directives are refused", "[sandbox]") {
  CHECK(Strategic(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"$retainKeys":["containers"],"$setElementOrder/containers":[
                      {"name":"b"},{"name":"a"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"));
  CHECK(Strategic(R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})") == Value(400));
}

TEST_CASE("apply: a configuration is merged, without its managedFields", "[sandbox]") {
  const auto apply = [](std::string_view target, std::string_view body, bool custom) {
    auto result = ApplyServerSide(J(target), J(body), custom);
    return result ? *result : Value(result.error().code);
  };
  const char* const stored = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]}})";
  const char* const body = R"({"metadata":{"managedFields":[1]},"spec":{"containers":[
      {"name":"b"}]}})";
  CHECK(apply(stored, body, false) ==
        J(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"));
  CHECK(apply(stored, body, true) ==
        J(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"b"}]}})"));
  CHECK(apply(stored, "[]", false) == Value(400));
}

TEST_CASE("patch: the media type decides the kind of patch", "[sandbox]") {
  CHECK(PatchTypeOf("application/json-patch+json") == PatchType::kJson);
  CHECK(PatchTypeOf("application/merge-patch+json") == PatchType::kMerge);
  CHECK(PatchTypeOf("application/strategic-merge-patch+json") == PatchType::kStrategic);
  CHECK(PatchTypeOf("application/apply-patch+yaml") == PatchType::kApply);
  CHECK_FALSE(PatchTypeOf("application/json"));
}

}  // namespace
}  // namespace sandbox::patch_test
