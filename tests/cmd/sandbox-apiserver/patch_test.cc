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

Value Strategic(std::string_view kind, std::string_view target, std::string_view patch) {
  auto result = ApplyStrategicMergePatch(J(target), J(patch), kind);
  return result ? *result : Value(result.error().code);
}

TEST_CASE("json patch: each operation is applied", "[sandbox]") {
  CHECK(Json(R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])") == J(R"({"a":1,"b":2})"));
  CHECK(Json(R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])") ==
        J(R"({"a":[1,2,3]})"));
  CHECK(Json(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])") == J(R"({"a":[1,2]})"));
  CHECK(Json(R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])") == J(R"({"a":[2]})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])") == J(R"({"a":null})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])") == J(R"({"b":1})"));
  CHECK(Json(R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])") == J(R"({"a":1,"b":1})"));
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
  CHECK(Json(R"({"a":1})", R"([{"op":"frob","path":"/a"}])") == Value(422));
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
  CHECK(Strategic("Pod",
                  R"({"spec":{"containers":[{"name":"a","image":"1","ports":[{"containerPort":80}],
                      "env":[{"name":"X","value":"1"}]},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,
                      "name":"http"}],"env":[{"name":"Y","value":"2"}]},{"name":"c"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,
              "name":"http"}],"env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]},
              {"name":"b"},{"name":"c"}]}})"));
  CHECK(Strategic("Service", R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":90}]}})",
                  R"({"spec":{"ports":[{"port":80,"name":"b"}]}})") ==
        J(R"({"spec":{"ports":[{"port":80,"name":"b"},{"port":90}]}})"));
  CHECK(Strategic("Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})",
                  R"({"spec":{"tolerations":[{"key":"b"}]}})") ==
        J(R"({"spec":{"tolerations":[{"key":"b"}]}})"));
  CHECK(Strategic("Pod", R"({"metadata":{"finalizers":["a"]}})",
                  R"({"metadata":{"finalizers":["b","a"]}})") ==
        J(R"({"metadata":{"finalizers":["a","b"]}})"));
}

TEST_CASE("strategic merge: $patch deletes and replaces", "[sandbox]") {
  const char* pod = R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})";
  CHECK(Strategic("Pod", pod, R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"b"}]}})"));
  CHECK(Strategic("Pod", pod, R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"c"}]}})"));
  CHECK(Strategic("ConfigMap", R"({"data":{"a":"1","b":"2"}})",
                  R"({"data":{"$patch":"replace","c":"3"}})") == J(R"({"data":{"c":"3"}})"));
  CHECK(Strategic("ConfigMap", R"({"data":{"a":"1"},"x":1})", R"({"data":{"$patch":"delete"}})") ==
        J(R"({"x":1})"));
  CHECK(Strategic("ConfigMap", R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":null}})") ==
        J(R"({"data":{"b":"2"}})"));
  CHECK(Strategic("Pod", pod, R"({"spec":{"$patch":"explode"}})") == Value(400));
  CHECK(Strategic("Pod", pod, R"({"spec":{"containers":[{"image":"2"}]}})") == Value(400));
}

TEST_CASE("strategic merge: directives leave no trace in new members", "[sandbox]") {
  CHECK(Strategic("Pod", R"({})",
                  R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[
                      {"name":"a","x":null},{"name":"z","$patch":"delete"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"a"}]}})"));
}

TEST_CASE("strategic merge: $deleteFromPrimitiveList and $retainKeys", "[sandbox]") {
  CHECK(Strategic("Pod", R"({"metadata":{"finalizers":["a","b","c"]}})",
                  R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"],
                      "finalizers":["d"]}})") == J(R"({"metadata":{"finalizers":["a","c","d"]}})"));
  CHECK(
      Strategic("Deployment",
                R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
                R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})") ==
      J(R"({"spec":{"strategy":{"type":"Recreate"}}})"));
}

TEST_CASE("strategic merge: $setElementOrder orders, others keep their places", "[sandbox]") {
  CHECK(Strategic("Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"x"},{"name":"b"}]}})",
                  R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"},
                      {"name":"c"}],"containers":[{"name":"c"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"x"},{"name":"b"},{"name":"a"},{"name":"c"}]}})"));
  CHECK(Strategic("Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})") ==
        J(R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"));
}

TEST_CASE("apply: owners share fields, and each removes only its own", "[sandbox]") {
  const auto apply = [](const Value& target, std::string_view manager, std::string_view body) {
    auto result = ApplyServerSide(target, J(body), manager, "Pod", false, "2026-01-01T00:00:00Z");
    return result ? *result : Value(result.error().code);
  };
  Value pod = apply(J("{}"), "one", R"({"spec":{"containers":[{"name":"a","image":"1"},
      {"name":"b"}],"priority":1}})");
  pod = apply(pod, "two", R"({"spec":{"containers":[{"name":"b","image":"2"}],"priority":1}})");
  CHECK(pod.At({"metadata", "managedFields"})->AsArray()->size() == 2);
  pod = apply(pod, "one", R"({"spec":{"containers":[{"name":"c"}]}})");
  CHECK(*pod.At({"spec", "containers"}) == J(R"([{"name":"b","image":"2"},{"name":"c"}])"));
  CHECK(pod.At({"spec", "priority"}) != nullptr);
  CHECK(apply(pod, "one", "[]") == Value(400));
}

TEST_CASE("apply: directives of a strategic merge patch are not fields", "[sandbox]") {
  const auto refusal = [](std::string_view body, bool custom = false) {
    const auto result = ApplyServerSide(J("{}"), J(body), "m", "Pod", custom, "t");
    return result ? "" : result.error().message;
  };
  CHECK_THAT(refusal(R"({"spec":{"containers":[{"name":"d","$patch":"delete"}]}})"),
             Catch::Contains(".spec.containers.$patch: field not declared in schema"));
  CHECK_THAT(refusal(R"({"spec":{"$setElementOrder/containers":[]}})"),
             Catch::Contains(".spec.$setElementOrder/containers: field not declared"));
  CHECK(refusal(R"({"spec":{"$patch":"x"}})", true).empty());
}

TEST_CASE("patch: the media type decides the kind of patch", "[sandbox]") {
  CHECK(PatchTypeOf("application/json-patch+json") == PatchType::kJson);
  CHECK(PatchTypeOf("application/merge-patch+json; charset=utf-8") == PatchType::kMerge);
  CHECK(PatchTypeOf("application/strategic-merge-patch+json") == PatchType::kStrategic);
  CHECK(PatchTypeOf("application/apply-patch+yaml") == PatchType::kApply);
  CHECK_FALSE(PatchTypeOf("application/json"));
}

}  // namespace
}  // namespace sandbox::patch_test
