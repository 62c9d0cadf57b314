#include "cmd/sandbox-apiserver/store.h"

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/cmd/sandbox-apiserver/core_fixture.h"
#include "tests/fake/managed_fields.h"

namespace sandbox::store_test {
namespace {

using json::Value;

class StoreTest : public CoreFixture {};

TEST_CASE_METHOD(StoreTest, "store: a created object gets uid, time and version", "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"name":"a","uid":"mine","generation":7,
      "creationTimestamp":"2001-01-01T00:00:00Z"},"data":{"k":"v"}})");
  REQUIRE(made);
  CHECK(made->created);
  const Value& object = *made->object;
  CHECK(api::Uid(object).size() == 36);
  CHECK(api::Uid(object)[14] == '4');
  CHECK(object.StringAt({"metadata", "creationTimestamp"}) == "2024-12-18T00:00:00Z");
  CHECK(Version(made->object) == std::to_string(store_.objects().current_version()));
  CHECK(api::Namespace(object) == "default");
  CHECK(object.StringAt({"kind"}) == "ConfigMap");
  CHECK(object.At({"metadata", "generation"}) == nullptr);
}

TEST_CASE_METHOD(StoreTest, "store: a second object with the same name is refused", "[sandbox]") {
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"a"}})"));
  auto again = Make("configmaps", R"({"metadata":{"name":"a"}})");
  REQUIRE_FALSE(again);
  CHECK(again.error().code == 409);
  CHECK(again.error().reason == "AlreadyExists");
  CHECK(again.error().message == "configmaps \"a\" already exists");
}

TEST_CASE_METHOD(StoreTest, "store: a body that differs from the path is refused", "[sandbox]") {
  auto version = Make("configmaps", R"({"metadata":{"name":"a","resourceVersion":"5"}})");
  REQUIRE_FALSE(version);
  CHECK(version.error().code == 500);
  CHECK(version.error().message == "resourceVersion should not be set on objects to be created");

  auto ns = Make("configmaps", R"({"metadata":{"name":"a","namespace":"other"}})");
  REQUIRE_FALSE(ns);
  CHECK(ns.error().code == 400);
  CHECK(ns.error().message ==
        "the namespace of the provided object does not match the namespace sent on the request");

  CHECK(Make("configmaps", R"({"kind":"Secret","metadata":{"name":"a"}})").error().code == 400);
  CHECK(Make("configmaps", R"([1])").error().code == 400);
  CHECK(Make("configmaps", R"({"metadata":"x"})").error().code == 400);
}

TEST_CASE_METHOD(StoreTest, "store: the namespace must exist", "[sandbox]") {
  auto made = store_.Create(At("configmaps", "", "", "nowhere"), J(R"({"metadata":{"name":"a"}})"));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 404);
  CHECK(made.error().message == "namespaces \"nowhere\" not found");
}

TEST_CASE_METHOD(StoreTest, "store: generateName makes a name, and an object without a name is 422",
                 "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"generateName":"web-"}})");
  REQUIRE(made);
  CHECK(api::Name(*made->object).size() == 9);
  CHECK(api::Name(*made->object).starts_with("web-"));
  auto nameless = Make("configmaps", R"({})");
  REQUIRE_FALSE(nameless);
  CHECK(nameless.error().code == 422);
  CHECK(nameless.error().message ==
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
        "required");
}

TEST_CASE_METHOD(StoreTest, "store: an update needs the current version, or none", "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  REQUIRE(made);
  Value body = *made->object;
  body.Make({"data", "k"}) = "2";
  auto updated = store_.Update(At("configmaps", "a"), body);
  REQUIRE(updated);
  CHECK(updated->changed);
  CHECK(Version(updated->object) != Version(made->object));

  auto stale = store_.Update(At("configmaps", "a"), body);
  REQUIRE_FALSE(stale);
  CHECK(stale.error().reason == "Conflict");
  CHECK(stale.error().message ==
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
        "apply your changes to the latest version and try again");

  body.Make({"metadata", "resourceVersion"}) = "";
  body.Make({"data", "k"}) = "3";
  CHECK(store_.Update(At("configmaps", "a"), body));
}

TEST_CASE_METHOD(StoreTest, "store: a write that changes nothing keeps the version", "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  REQUIRE(made);
  const std::uint64_t before = store_.objects().current_version();
  auto same = store_.Update(At("configmaps", "a"), *made->object);
  REQUIRE(same);
  CHECK_FALSE(same->changed);
  CHECK(store_.objects().current_version() == before);
  auto patch = store_.Patch(At("configmaps", "a"), {PatchType::kMerge, J(R"({"data":{"k":"1"}})")});
  REQUIRE(patch);
  CHECK(Version(patch->object) == Version(made->object));
}

TEST_CASE_METHOD(StoreTest, "store: PUT of another name or uid is refused", "[sandbox]") {
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"a"}})"));
  auto named = store_.Update(At("configmaps", "a"), J(R"({"metadata":{"name":"b"}})"));
  CHECK(named.error().message ==
        "the name of the object (b) does not match the name on the URL (a)");
  auto uid = store_.Update(At("configmaps", "a"), J(R"({"metadata":{"name":"a","uid":"x"}})"));
  REQUIRE_FALSE(uid);
  CHECK(uid.error().code == 409);
  CHECK(store_.Update(At("configmaps", "z"), J(R"({"metadata":{"name":"z"}})")).error().code ==
        404);
}

TEST_CASE_METHOD(StoreTest, "store: a dry run is answered as if done, and stores nothing",
                 "[sandbox]") {
  const std::uint64_t before = store_.objects().current_version();
  WriteOptions dry;
  dry.dry_run = true;
  auto made = Make("configmaps", R"({"metadata":{"name":"a"}})", dry);
  REQUIRE(made);
  CHECK(made->created);
  CHECK_FALSE(api::Uid(*made->object).empty());
  CHECK(Version(made->object).empty());
  CHECK_FALSE(Exists(At("configmaps", "a")));
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"b"}})"));
  DeleteOptions dry_delete;
  dry_delete.dry_run = true;
  CHECK(store_.Delete(At("configmaps", "b"), dry_delete));
  CHECK(Exists(At("configmaps", "b")));
  CHECK(store_.objects().current_version() == before + 1);
}

TEST_CASE_METHOD(StoreTest, "store: status belongs to the subresource", "[sandbox]") {
  auto made = Make("resourcequotas", R"({"metadata":{"name":"q","labels":{"a":"b"}},
      "spec":{"hard":{"pods":"5"}},"status":{"hard":{"pods":"9"}}})");
  REQUIRE(made);
  CHECK(*made->object->At({"status"}) == J("{}"));

  auto patched = store_.Patch(
      At("resourcequotas", "q", "status"),
      {PatchType::kMerge, J(R"({"spec":{"hard":{"pods":"1"}},"status":{"used":{"pods":"2"}}})")});
  REQUIRE(patched);
  CHECK(patched->object->StringAt({"spec", "hard", "pods"}) == "5");
  CHECK(patched->object->StringAt({"status", "used", "pods"}) == "2");
  CHECK(patched->object->StringAt({"metadata", "labels", "a"}) == "b");

  auto main = store_.Patch(At("resourcequotas", "q"),
                           {PatchType::kMerge, J(R"({"status":{"used":{"pods":"7"}}})")});
  REQUIRE(main);
  CHECK(main->object->StringAt({"status", "used", "pods"}) == "2");
  CHECK_FALSE(main->changed);

  // A PUT of a quota's status replaces the metadata: labels missing in the body are removed.
  auto put = store_.Update(At("resourcequotas", "q", "status"),
                           J(R"({"metadata":{"name":"q"},"status":{"used":{"pods":"3"}}})"));
  REQUIRE(put);
  CHECK(put->object->At({"metadata", "labels"}) == nullptr);
  CHECK(put->object->StringAt({"spec", "hard", "pods"}) == "5");
}

TEST_CASE_METHOD(StoreTest, "store: a patch with a stale version or uid conflicts", "[sandbox]") {
  REQUIRE(Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"5"}}})"));
  const Target status = At("resourcequotas", "q", "status");
  const std::string version = Version(*store_.objects().Get(status));
  Value body = J(R"({"status":{"used":{"pods":"2"}}})");
  body.Make({"metadata", "resourceVersion"}) = version;
  auto first = store_.preparer().Patch(status, {PatchType::kMerge, body}, {});
  REQUIRE(first);
  CHECK_FALSE(first->unconditional);
  REQUIRE(store_.Patch(status, {PatchType::kMerge, body}));
  auto stale = store_.Patch(status, {PatchType::kMerge, body});
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code == 409);
  auto uid = store_.Patch(status, {PatchType::kMerge, J(R"({"metadata":{"uid":"other"}})")});
  REQUIRE_FALSE(uid);
  CHECK(uid.error().message ==
        "ResourceQuota \"q\" is invalid: metadata.uid: Invalid value: \"other\": field is "
        "immutable");
}

TEST_CASE_METHOD(StoreTest, "store: a commit after somebody else's write conflicts", "[sandbox]") {
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"a"},"data":{"k":"1"}})"));
  const Target target = At("configmaps", "a");
  auto slow = store_.preparer().Patch(target, {PatchType::kMerge, J(R"({"data":{"k":"2"}})")}, {});
  REQUIRE(slow);
  CHECK(slow->unconditional);
  REQUIRE(store_.preparer().Complete(*slow));
  REQUIRE(store_.Patch(target, {PatchType::kMerge, J(R"({"data":{"k":"3"}})")}));
  auto late = store_.Commit(std::move(*slow));
  REQUIRE_FALSE(late);
  CHECK(late.error().reason == "Conflict");
  CHECK(store_.objects().Get(target).value()->StringAt({"data", "k"}) == "3");
}

TEST_CASE_METHOD(StoreTest, "store: the last updater owns a status field", "[sandbox]") {
  REQUIRE(Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"5"}}})"));
  const auto write = [&](const char* manager, const char* status) {
    Value body;
    body.Make({"status"}) = J(status);
    auto done = store_.Patch(At("resourcequotas", "q", "status"), {PatchType::kMerge, body},
                             {.field_manager = manager});
    REQUIRE(done);
    return done->object;
  };
  const auto updater = [](const ObjectPtr& quota, std::string_view name) {
    return std::string(api::UpdaterOf(*quota, {"status", "used", name}).value_or("nobody"));
  };
  ObjectPtr quota = write("a", R"({"hard":{"pods":"5"},"used":{"pods":"1","secrets":"1"}})");
  CHECK(updater(quota, "pods") == "a");
  quota = write("b", R"({"used":{"pods":"2","secrets":"1"}})");
  CHECK(updater(quota, "pods") == "b");
  CHECK(updater(quota, "secrets") == "a");
  CHECK(api::UpdaterOf(*quota, {"status", "hard", "pods"}) == "a");
  quota = write("b", R"({"used":{"pods":"2"}})");
  CHECK(quota->At({"metadata", "managedFields"})->AsArray()->size() == 2);
  quota = write("b", R"({"hard":null,"used":{"secrets":"3"}})");
  CHECK(quota->At({"metadata", "managedFields"})->AsArray()->size() == 1);  // "a" owns no field
  quota = write("a", R"({"used":{"pods":null,"services":"1"}})");
  CHECK(updater(quota, "pods") == "nobody");
  CHECK(updater(quota, "secrets") == "b");
  CHECK(updater(quota, "services") == "a");
}

TEST_CASE_METHOD(StoreTest, "store: malformed managedFields do not break a status write",
                 "[sandbox]") {
  for (const char* fields :
       {"1", R"({"f:status":1})", R"({"f:status":{"f:used":1,".":{},"x":{}}})"}) {
    INFO(fields);
    Value quota = J(R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"5"}}})");
    Value entry = J(R"({"manager":"a","operation":"Update","subresource":"status"})");
    entry.Make({"fieldsV1"}) = J(fields);
    quota.Make({"metadata", "managedFields"}) = json::Array{entry};
    const auto made = store_.Create(At("resourcequotas", ""), quota);
    REQUIRE(made);
    auto done = store_.Patch(At("resourcequotas", "q", "status"),
                             {PatchType::kMerge, J(R"({"status":{"used":{"pods":"1"}}})")},
                             {.field_manager = "b"});
    REQUIRE(done);
    CHECK(api::UpdaterOf(*done->object, {"status", "used", "pods"}) == "b");
    REQUIRE(store_.Delete(At("resourcequotas", "q"), {}));
  }
}

TEST_CASE_METHOD(StoreTest, "store: generation follows the spec, not status or labels",
                 "[sandbox]") {
  const TypePtr type = Type("apps", "v1", "deployments");
  const Target target{type, "default", "d", ""};
  auto made = store_.Create({type, "default", "", ""}, J(R"({"metadata":{"name":"d"},"spec":{
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  REQUIRE(made);
  const auto generation = [](const ObjectPtr& object) {
    return object->At({"metadata", "generation"})->AsInt64();
  };
  CHECK(generation(made->object) == 1);
  auto labelled =
      store_.Patch(target, {PatchType::kMerge, J(R"({"metadata":{"labels":{"x":"y"}}})")});
  CHECK(generation(labelled->object) == 1);
  auto scaled = store_.Patch(target, {PatchType::kMerge, J(R"({"spec":{"replicas":3}})")});
  CHECK(generation(scaled->object) == 2);
  auto status = store_.Patch({type, "default", "d", "status"},
                             {PatchType::kMerge, J(R"({"status":{"replicas":3}})")});
  CHECK(generation(status->object) == 2);
}

TEST_CASE_METHOD(StoreTest, "store: apply creates and merges", "[sandbox]") {
  WriteOptions manager;
  manager.field_manager = "kubectl";
  const Target target = At("configmaps", "a");
  auto made = store_.Patch(
      target,
      {PatchType::kApply, J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},
          "data":{"x":"1","y":"2"}})")},
      manager);
  REQUIRE(made);
  CHECK(made->created);
  REQUIRE(store_.Patch(target, {PatchType::kMerge, J(R"({"data":{"z":"3"}})")}));
  auto again = store_.Patch(
      target,
      {PatchType::kApply, J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},
          "data":{"x":"9"}})")},
      manager);
  REQUIRE(again);
  CHECK_FALSE(again->created);
  CHECK(*again->object->At({"data"}) == J(R"({"x":"9","y":"2","z":"3"})"));
  auto same = store_.Patch(
      target,
      {PatchType::kApply, J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},
          "data":{"x":"9"}})")},
      manager);
  REQUIRE(same);
  CHECK_FALSE(same->changed);
  auto anonymous = store_.Patch(target, {PatchType::kApply, J(R"({"metadata":{"name":"a"}})")});
  CHECK(anonymous.error().code == 400);
}

TEST_CASE_METHOD(StoreTest, "store: a strategic patch of a custom resource is 415", "[sandbox]") {
  ResourceType widget;
  widget.group = "example.com";
  widget.version = widget.storage_version = "v1";
  widget.resource = "widgets";
  widget.kind = "Widget";
  widget.custom = true;
  registry_.SetCustom("widgets.example.com", {widget});
  const TypePtr type = Type("example.com", "v1", "widgets");
  REQUIRE(store_.Create({type, "default", "", ""}, J(R"({"metadata":{"name":"w"}})")));
  const Target target{type, "default", "w", ""};
  CHECK(store_.Patch(target, {PatchType::kStrategic, J("{}")}).error().code == 415);
  auto put = store_.Update(target, J(R"({"metadata":{"name":"w"}})"));
  REQUIRE_FALSE(put);
  CHECK(put.error().message ==
        "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be "
        "specified for an update");
}

}  // namespace
}  // namespace sandbox::store_test
