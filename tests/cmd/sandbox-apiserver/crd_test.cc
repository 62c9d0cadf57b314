#include "cmd/sandbox-apiserver/crd.h"

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::crd_test {
namespace {

using json::Value;

constexpr std::string_view kWidgets = R"({"metadata":{"name":"widgets.example.com"},"spec":{
  "group":"example.com","scope":"Namespaced",
  "names":{"plural":"widgets","kind":"Widget","shortNames":["wd"]},
  "versions":[
    {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
     "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],
     "selectableFields":[{"jsonPath":".spec.color"}],
     "schema":{"openAPIV3Schema":{"type":"object","properties":{
       "spec":{"type":"object","required":["size"],"properties":{
         "size":{"type":"integer","minimum":1,"maximum":10},
         "color":{"type":"string","enum":["red","blue"],"default":"red"},
         "code":{"type":"string","pattern":"^[a-z]+$","maxLength":3},
         "port":{"x-kubernetes-int-or-string":true},
         "tags":{"type":"array","minItems":1,"items":{"type":"string"}},
         "limits":{"type":"object","additionalProperties":{"type":"string"}},
         "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
       "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}},
    {"name":"v1beta1","served":true,"storage":false,
     "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

class CrdTest : public CoreFixture {
 protected:
  [[nodiscard]] Target Crd(std::string name) const {
    return {Type("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "", std::move(name),
            ""};
  }
  void Define() { REQUIRE(store_.Create(Crd(""), J(kWidgets))); }
  Outcome<WriteResult> MakeWidget(std::string_view spec,
                                  FieldValidation validation = FieldValidation::kWarn) {
    Value body = J(R"({"metadata":{"name":"w"}})");
    body.Make({"spec"}) = J(spec);
    WriteOptions options;
    options.field_validation = validation;
    return store_.Create({Type("example.com", "v1", "widgets"), "default", "", ""}, body, options);
  }
  std::string Refusal(std::string_view spec) {
    auto made = MakeWidget(spec);
    return made ? "" : made.error().message;
  }
};

TEST_CASE_METHOD(CrdTest, "crd: a definition is established and served", "[sandbox]") {
  auto made = store_.Create(Crd(""), J(kWidgets));
  REQUIRE(made);
  const Value& conditions = *made->object->At({"status", "conditions"});
  CHECK((*conditions.AsArray())[1].StringAt({"type"}) == "Established");
  CHECK((*conditions.AsArray())[1].StringAt({"status"}) == "True");
  CHECK(*made->object->At({"status", "storedVersions"}) == J(R"(["v1"])"));
  const TypePtr type = Type("example.com", "v1", "widgets");
  REQUIRE(type != nullptr);
  CHECK(type->singular == "widget");
  CHECK(type->list_kind == "WidgetList");
  CHECK(type->short_names == std::vector<std::string>{"wd"});
  CHECK(type->status);
  CHECK_FALSE(Type("example.com", "v1beta1", "widgets")->status);
  CHECK(registry_.Versions("example.com").front() == "v1");
}

TEST_CASE_METHOD(CrdTest, "crd: a malformed definition is refused with 422 and names its fields",
                 "[sandbox]") {
  Value wrong = J(kWidgets);
  wrong.Make({"metadata", "name"}) = "gadgets.example.com";
  (*wrong.Make({"spec", "versions"}).AsArray())[0].Make({"storage"}) = false;
  auto made = store_.Create(Crd(""), wrong);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 422);
  std::vector<std::string> fields;
  for (const api::StatusCause& cause : made.error().details.causes) fields.push_back(cause.field);
  CHECK(fields == std::vector<std::string>{"metadata.name", "spec.versions"});
  CHECK(Type("example.com", "v1", "widgets") == nullptr);
}

TEST_CASE_METHOD(CrdTest, "crd: objects are pruned and defaulted", "[sandbox]") {
  Define();
  auto made = MakeWidget(R"({"size":2,"extra":1,"free":{"any":{"thing":1}},"limits":{"a":"b"}})");
  REQUIRE(made);
  CHECK(*made->object->At({"spec"}) ==
        J(R"({"size":2,"free":{"any":{"thing":1}},"limits":{"a":"b"},"color":"red"})"));
  CHECK(made->warnings == std::vector<std::string>{"unknown field \"spec.extra\""});
  CHECK(made->object->At({"metadata", "generation"})->AsInt64() == 1);
  auto strict = MakeWidget(R"({"size":2,"extra":1})", FieldValidation::kStrict);
  REQUIRE_FALSE(strict);
  CHECK(strict.error().code == 400);
  CHECK(strict.error().message ==
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown "
        "field "
        "\"spec.extra\"");
}

TEST_CASE_METHOD(CrdTest, "crd: the schema refuses invalid objects", "[sandbox]") {
  Define();
  const std::string invalid = "Widget.example.com \"w\" is invalid: ";
  CHECK(Refusal(R"({})") == invalid + "spec.size: Required value");
  CHECK(Refusal(R"({"size":"2"})") ==
        invalid +
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: "
            "\"string\"");
  CHECK(Refusal(R"({"size":1.5e98})") ==
        invalid +
            "spec.size: Invalid value: \"number\": spec.size in body must be of type integer: "
            "\"number\"");
  CHECK(Refusal(R"({"size":0})") ==
        invalid +
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1");
  CHECK(Refusal(R"({"size":11})") ==
        invalid +
            "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10");
  CHECK(Refusal(R"({"size":1,"color":"green"})") ==
        invalid + "spec.color: Unsupported value: \"green\": supported values: \"red\", \"blue\"");
  CHECK(Refusal(R"({"size":1,"code":"A"})") ==
        invalid + "spec.code: Invalid value: \"A\": spec.code in body should match '^[a-z]+$'");
  CHECK(Refusal(R"({"size":1,"code":"abcd"})") ==
        invalid + "spec.code: Invalid value: 4: spec.code in body should have at most 3");
  CHECK(Refusal(R"({"size":1,"tags":[]})") ==
        invalid + "spec.tags: Invalid value: 0: spec.tags in body should have at least 1");
  CHECK(Refusal(R"({"size":1,"tags":["a",1]})")
            .starts_with(invalid + "spec.tags[1]: Invalid value: \"integer\""));
  CHECK(Refusal(R"({"size":1,"limits":{"a":1}})").starts_with(invalid + "spec.limits.a: "));
  CHECK(Refusal(R"({"size":1,"port":true})").starts_with(invalid + "spec.port: "));
  CHECK(Refusal(R"({"size":1.0,"port":"http","tags":["a"],"code":"abc"})").empty());
}

TEST_CASE_METHOD(CrdTest, "crd: the status subresource splits writes", "[sandbox]") {
  Define();
  REQUIRE(MakeWidget(R"({"size":2})"));
  const TypePtr type = Type("example.com", "v1", "widgets");
  auto status = store_.Patch(
      {type, "default", "w", "status"},
      {PatchType::kMerge, J(R"({"metadata":{"labels":{"a":"b"}},"status":{"phase":"Up"},
                                "spec":{"size":9}})")});
  REQUIRE(status);
  CHECK(status->object->StringAt({"status", "phase"}) == "Up");
  CHECK(status->object->At({"spec", "size"})->AsInt64() == 2);
  CHECK(status->object->At({"metadata", "labels"}) == nullptr);
  CHECK(status->object->At({"metadata", "generation"})->AsInt64() == 1);
  ListQuery query;
  query.field_selector = "spec.color=red";
  CHECK(store_.objects().List(type, query)->items.size() == 1);
}

TEST_CASE_METHOD(CrdTest, "crd: every version shows the same object", "[sandbox]") {
  Define();
  REQUIRE(MakeWidget(R"({"size":2})"));
  const TypePtr beta = Type("example.com", "v1beta1", "widgets");
  auto seen = store_.objects().Get({beta, "default", "w", ""});
  REQUIRE(seen);
  CHECK(api::ApiVersion(**seen) == "example.com/v1beta1");
  CHECK((*seen)->At({"spec", "size"})->AsInt64() == 2);
  auto patched =
      store_.Patch({beta, "default", "w", ""}, {PatchType::kMerge, J(R"({"spec":{"size":3}})")});
  REQUIRE(patched);
  CHECK(api::ApiVersion(*patched->object) == "example.com/v1beta1");
  auto stored = store_.objects().Get({Type("example.com", "v1", "widgets"), "default", "w", ""});
  CHECK(api::ApiVersion(**stored) == "example.com/v1");
  auto same =
      store_.Patch({beta, "default", "w", ""}, {PatchType::kMerge, J(R"({"spec":{"size":3}})")});
  CHECK_FALSE(same->changed);
}

TEST_CASE_METHOD(
    CrdTest, "crd: its deletion deletes the objects, ends the watches and stops serving the kind",
    "[sandbox]") {
  Define();
  REQUIRE(MakeWidget(R"({"size":2})"));
  const TypePtr type = Type("example.com", "v1", "widgets");
  WatchQuery query;
  query.resource_version = std::to_string(store_.objects().current_version());
  auto watch = store_.objects().StartWatch(type, query, {});
  REQUIRE(watch);
  REQUIRE(store_.Delete(Crd("widgets.example.com")));
  CHECK(Type("example.com", "v1", "widgets") == nullptr);
  const auto event = (*watch)->Next();
  REQUIRE(event);
  CHECK(event->type == EventType::kDeleted);
  CHECK((*watch)->lagged());
  Define();
  CHECK(store_.objects().List(Type("example.com", "v1", "widgets"), {})->items.empty());
}

TEST_CASE_METHOD(CrdTest, "crd: a changed definition ends its watches, a changed status does not",
                 "[sandbox]") {
  Define();
  const TypePtr widgets = Type("example.com", "v1", "widgets");
  auto watch = store_.objects().StartWatch(widgets, {}, [] {});
  REQUIRE(watch);
  const auto patch = [&](std::string_view body, const std::string& subresource) {
    Target target = Crd("widgets.example.com");
    target.subresource = subresource;
    return store_.Patch(target, {.type = PatchType::kMerge, .body = J(body)});
  };
  REQUIRE(patch(R"({"status":{"storedVersions":["v1"]}})", "status"));
  REQUIRE(patch(R"({"metadata":{"labels":{"a":"b"}}})", ""));
  CHECK_FALSE((*watch)->lagged());
  // A watcher that lags may still read its remaining events.
  REQUIRE(MakeWidget(R"({"size":1})"));
  REQUIRE(patch(R"({"spec":{"names":{"shortNames":["wg"]}}})", ""));
  CHECK_FALSE((*watch)->lagged());
  CHECK((*watch)->Next());
  CHECK((*watch)->lagged());
  const auto next = store_.objects().StartWatch(widgets, {}, [] {});
  REQUIRE(next);
  CHECK_FALSE((*next)->lagged());
}

TEST_CASE("crd: versions are preferred by stability, then number", "[sandbox]") {
  Value crd = J(R"({"spec":{"versions":[]}})");
  for (const char* name : {"foo1", "v1alpha1", "v1", "v2beta1", "v10", "v2"}) {
    crd.Make({"spec", "versions"})
        .AsArray()
        ->push_back(json::Object{{"name", name}, {"served", true}, {"storage", false}});
  }
  std::vector<std::string> order;
  for (const ResourceType& type : TypesOfCrd(crd)) order.push_back(type.version);
  CHECK(order == std::vector<std::string>{"v10", "v2", "v1", "v2beta1", "v1alpha1", "foo1"});
}

}  // namespace
}  // namespace sandbox::crd_test
