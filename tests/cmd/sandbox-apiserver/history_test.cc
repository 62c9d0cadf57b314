#include "cmd/sandbox-apiserver/history.h"

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::history_test {
namespace {

class WatchTest : public CoreFixture {
 protected:
  std::unique_ptr<Watch> Open(const WatchQuery& query) {
    auto watch = store_.objects().StartWatch(Core("configmaps"), query, [this] { ++notified_; });
    return watch ? std::move(*watch) : nullptr;
  }
  void MakeMap(const std::string& name, const std::string& label = "") {
    json::Value body = J("{}");
    body.Make({"metadata", "name"}) = name;
    if (!label.empty()) body.Make({"metadata", "labels", "x"}) = label;
    REQUIRE(store_.Create(At("configmaps", ""), body));
  }
  void Label(const std::string& name, const std::string& label) {
    json::Value patch = J("{}");
    patch.Make({"metadata", "labels", "x"}) = label;
    REQUIRE(store_.Patch(At("configmaps", name), {PatchType::kMerge, patch}));
  }
  // Returns "ADDED a", or "" if there is no event.
  static std::string Next(Watch& watch) {
    const auto event = watch.Next();
    if (!event) return "";
    return std::string(ToString(event->type)) + " " + std::string(api::Name(*event->object));
  }
  int notified_ = 0;
};

TEST_CASE("watch: a version from before a restart is too old", "[sandbox]") {
  Registry registry;
  base::ManualClock clock;
  Store store(registry, clock, {.first_version = 1000, .seed = 1});
  WatchQuery query;
  query.resource_version = "900";
  const auto watch = store.objects().StartWatch(registry.Find("", "v1", "configmaps"), query, {});
  REQUIRE_FALSE(watch.has_value());
  CHECK(watch.error().code == 410);
}

TEST_CASE_METHOD(WatchTest, "watch: a watch from a version gets all later events in order",
                 "[sandbox]") {
  MakeMap("old");
  WatchQuery query;
  query.resource_version = std::to_string(store_.objects().current_version());
  MakeMap("a");
  Label("a", "1");
  auto watch = Open(query);
  REQUIRE(store_.Delete(At("configmaps", "a")));
  CHECK(notified_ == 1);
  CHECK(Next(*watch) == "ADDED a");
  CHECK(Next(*watch) == "MODIFIED a");
  const auto deleted = watch->Next();
  REQUIRE(deleted);
  CHECK(deleted->type == EventType::kDeleted);
  CHECK(Version(deleted->object) == std::to_string(store_.objects().current_version()));
  CHECK(deleted->object->StringAt({"metadata", "labels", "x"}) == "1");
  CHECK(Next(*watch).empty());
  CHECK(watch->position() == store_.objects().current_version());
}

TEST_CASE_METHOD(WatchTest, "watch: a watch without a version gets the present state first",
                 "[sandbox]") {
  MakeMap("b");
  MakeMap("a");
  auto watch = Open({});
  MakeMap("c");
  CHECK_FALSE(watch->initial_done());
  const auto first = watch->Next();
  REQUIRE(first);
  CHECK(first->initial);
  CHECK(api::Name(*first->object) == "a");
  CHECK(Next(*watch) == "ADDED b");
  CHECK(watch->initial_done());
  CHECK(Next(*watch) == "ADDED c");
  CHECK(Next(*watch).empty());
}

TEST_CASE_METHOD(WatchTest,
                 "watch: an object that enters the selection is ADDED, one that leaves it DELETED",
                 "[sandbox]") {
  MakeMap("a", "no");
  WatchQuery query;
  query.label_selector = "x=yes";
  auto watch = Open(query);
  Label("a", "yes");
  CHECK(Next(*watch) == "ADDED a");
  Label("a", "no");
  const auto left = watch->Next();
  REQUIRE(left);
  CHECK(left->type == EventType::kDeleted);
  CHECK(left->object->StringAt({"metadata", "labels", "x"}) == "yes");
  CHECK(Version(left->object) == std::to_string(store_.objects().current_version()));
  Label("a", "never");
  CHECK(Next(*watch).empty());
}

TEST_CASE_METHOD(WatchTest, "watch: objects of other namespaces and fields are left out",
                 "[sandbox]") {
  WatchQuery query;
  query.ns = "default";
  query.field_selector = "metadata.name=a";
  auto watch = Open(query);
  MakeMap("b");
  REQUIRE(
      store_.Create(At("configmaps", "", "", "kube-system"), J(R"({"metadata":{"name":"a"}})")));
  CHECK(Next(*watch).empty());
  MakeMap("a");
  CHECK(Next(*watch) == "ADDED a");
}

TEST_CASE_METHOD(WatchTest, "watch: a forgotten version is too old", "[sandbox]") {
  MakeMap("a");
  const std::uint64_t then = store_.objects().current_version();
  MakeMap("b");
  store_.objects().ExpireHistory();
  WatchQuery query;
  query.resource_version = std::to_string(then);
  auto watch = store_.objects().StartWatch(Core("configmaps"), query, {});
  REQUIRE_FALSE(watch);
  CHECK(watch.error().code == 410);
  CHECK(watch.error().reason == "Expired");
  CHECK(watch.error().message == "too old resource version: " + std::to_string(then) + " (" +
                                     std::to_string(then + 1) + ")");
  query.resource_version = "x";
  CHECK(store_.objects().StartWatch(Core("configmaps"), query, {}).error().code == 400);
}

TEST_CASE("watch: a reader whose events were overwritten lags", "[sandbox]") {
  Registry registry;
  base::ManualClock clock;
  Store store(registry, clock, {.history = 2, .seed = 1});
  const TypePtr type = registry.Find("", "v1", "configmaps");
  const auto make = [&](const char* name) {
    json::Value body = J("{}");
    body.Make({"metadata", "name"}) = name;
    REQUIRE(store.Create({type, "default", "", ""}, body));
  };
  auto opened = store.objects().StartWatch(type, {}, {});
  REQUIRE(opened);
  Watch* const watch = opened->get();
  make("a");
  make("b");
  CHECK_FALSE(watch->lagged());
  make("c");
  CHECK(watch->lagged());
  CHECK_FALSE(watch->Next());
}

TEST_CASE_METHOD(WatchTest, "watch: bookmarks may advance past foreign writes", "[sandbox]") {
  auto watch = Open({});
  REQUIRE(Make("secrets", R"({"metadata":{"name":"s"}})"));
  watch->Advance(store_.objects().current_version());
  CHECK(watch->position() == store_.objects().current_version());
  MakeMap("a");
  watch->Advance(store_.objects().current_version());
  CHECK(Next(*watch) == "ADDED a");
}

TEST_CASE_METHOD(WatchTest, "watch: initial events on request need NotOlderThan", "[sandbox]") {
  MakeMap("a");
  WatchQuery query;
  query.send_initial_events = true;
  CHECK(store_.objects().StartWatch(Core("configmaps"), query, {}).error().code == 422);
  query.resource_version_match = "NotOlderThan";
  query.resource_version = "1";
  auto watch = Open(query);
  REQUIRE(watch != nullptr);
  CHECK(Next(*watch) == "ADDED a");
  query.send_initial_events = false;
  query.resource_version = "0";
  CHECK(Next(*Open(query)).empty());
}

}  // namespace
}  // namespace sandbox::history_test
