// Deletion: finalizers, grace, namespaces, owners.

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::deletion_test {
namespace {

using json::Value;

class DeletionTest : public CoreFixture {
 protected:
  void RunBackground() {
    while (store_.background().NextDue() && *store_.background().NextDue() <= clock_.Now())
      store_.background().RunDue();
  }
  Outcome<WriteResult> Merge(const Target& target, std::string_view patch) {
    return store_.Patch(target, {PatchType::kMerge, J(patch)});
  }
};

TEST_CASE_METHOD(DeletionTest, "deletion: an object without finalizers is removed at once",
                 "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"name":"a"}})");
  auto deleted = store_.Delete(At("configmaps", "a"));
  REQUIRE(deleted);
  CHECK(deleted->removed);
  CHECK(deleted->show_status);
  CHECK(api::Uid(*deleted->object) == api::Uid(*made->object));
  CHECK(Version(deleted->object) != Version(made->object));
  CHECK(store_.Delete(At("configmaps", "a")).error().code == 404);
}

TEST_CASE_METHOD(DeletionTest, "deletion: an object is kept until its last finalizer is removed",
                 "[sandbox]") {
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"a","finalizers":["x.io/f"]}})"));
  const Target target = At("configmaps", "a");
  auto deleted = store_.Delete(target);
  REQUIRE(deleted);
  CHECK_FALSE(deleted->removed);
  CHECK(api::IsBeingDeleted(*deleted->object));
  CHECK(deleted->object->At({"metadata", "deletionGracePeriodSeconds"})->AsInt64() == 0);

  auto again = store_.Delete(target);
  REQUIRE(again);
  CHECK_FALSE(again->changed);

  auto taken = Make("configmaps", R"({"metadata":{"name":"a"}})");
  CHECK(taken.error().message == "object is being deleted: configmaps \"a\" already exists");

  auto added = Merge(target, R"({"metadata":{"finalizers":["x.io/f","x.io/g"]}})");
  REQUIRE_FALSE(added);
  CHECK(added.error().code == 422);

  auto freed = Merge(target, R"({"metadata":{"finalizers":null}})");
  REQUIRE(freed);
  CHECK(Version(freed->object) == Version(deleted->object));
  CHECK(Version(freed->object) != std::to_string(store_.objects().current_version()));
  CHECK(freed->removed);
  CHECK_FALSE(Exists(target));
}

TEST_CASE_METHOD(DeletionTest, "deletion: preconditions must hold", "[sandbox]") {
  auto made = Make("configmaps", R"({"metadata":{"name":"a"}})");
  DeleteOptions options;
  options.uid = "other";
  CHECK(
      store_.Delete(At("configmaps", "a"), options).error().message ==
      "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (other) does "
      "not match the UID in record (" +
          std::string(api::Uid(*made->object)) + ")");
  options.uid = api::Uid(*made->object);
  options.resource_version = "1";
  CHECK(store_.Delete(At("configmaps", "a"), options).error().reason == "Conflict");
  options.resource_version = Version(made->object);
  CHECK(store_.Delete(At("configmaps", "a"), options));
}

TEST_CASE_METHOD(DeletionTest, "deletion: options are read from a body", "[sandbox]") {
  auto options = DeleteOptions::FromJson(J(R"({"gracePeriodSeconds":0,"dryRun":["All"],
            "preconditions":{"uid":"u","resourceVersion":"7"}})"));
  REQUIRE(options);
  CHECK(options->grace_period_seconds == 0);
  CHECK(options->uid == "u");
  CHECK(options->resource_version == "7");
  CHECK(options->dry_run);
  CHECK(DeleteOptions::FromJson(J("[]")).error().code == 400);
  CHECK(DeleteOptions::FromJson(J(R"({"gracePeriodSeconds":"x"})")).error().code == 400);
}

TEST_CASE_METHOD(DeletionTest, "deletion: an unscheduled pod has no grace period", "[sandbox]") {
  REQUIRE(MakePod("p"));
  WatchQuery query;
  query.resource_version = std::to_string(store_.objects().current_version());
  auto watch = store_.objects().StartWatch(Core("pods"), query, {});
  REQUIRE(watch);
  auto deleted = store_.Delete(At("pods", "p"));
  REQUIRE(deleted);
  CHECK(deleted->removed);
  CHECK_FALSE(deleted->show_status);
  // As on a real server, the pod is first marked, then deleted.
  const auto marked = (*watch)->Next();
  REQUIRE(marked);
  CHECK(marked->type == EventType::kModified);
  CHECK(api::IsBeingDeleted(*marked->object));
  CHECK(marked->object->At({"metadata", "generation"})->AsInt64() == 2);
  CHECK((*watch)->Next()->type == EventType::kDeleted);
  CHECK_FALSE((*watch)->Next());
}

TEST_CASE_METHOD(DeletionTest, "deletion: a scheduled pod stays until its grace period ends",
                 "[sandbox]") {
  REQUIRE(MakePod("p", "node"));
  const Target target = At("pods", "p");
  auto deleted = store_.Delete(target);
  REQUIRE(deleted);
  CHECK_FALSE(deleted->removed);
  CHECK(deleted->object->At({"metadata", "deletionGracePeriodSeconds"})->AsInt64() == 30);
  CHECK(deleted->object->StringAt({"metadata", "deletionTimestamp"}) == "2024-12-18T00:00:30Z");
  clock_.Advance(std::chrono::seconds(29));
  RunBackground();
  CHECK(Exists(target));
  clock_.Advance(std::chrono::seconds(1));
  RunBackground();
  CHECK_FALSE(Exists(target));
}

TEST_CASE_METHOD(DeletionTest, "deletion: a grace period of zero removes a terminating pod at once",
                 "[sandbox]") {
  REQUIRE(MakePod("p", "node"));
  REQUIRE(store_.Delete(At("pods", "p")));
  DeleteOptions now;
  now.grace_period_seconds = 0;
  auto forced = store_.Delete(At("pods", "p"), now);
  REQUIRE(forced);
  CHECK(forced->removed);
  // The timer of the first deletion must not delete a successor with the same name.
  REQUIRE(MakePod("p", "node"));
  clock_.Advance(std::chrono::minutes(1));
  RunBackground();
  CHECK(Exists(At("pods", "p")));
}

TEST_CASE_METHOD(DeletionTest, "namespace: a new one is active, with its label and finalizer",
                 "[sandbox]") {
  auto made = Make("namespaces", R"({"metadata":{"generateName":"team-"}})");
  REQUIRE(made);
  const Value& ns = *made->object;
  CHECK(ns.StringAt({"status", "phase"}) == "Active");
  CHECK(*ns.At({"spec", "finalizers"}) == J(R"(["kubernetes"])"));
  CHECK(ns.StringAt({"metadata", "labels", "kubernetes.io/metadata.name"}) == api::Name(ns));
}

TEST_CASE_METHOD(DeletionTest, "namespace: its contents are deleted first, then the namespace",
                 "[sandbox]") {
  REQUIRE(Make("namespaces", R"({"metadata":{"name":"team"}})"));
  REQUIRE(store_.Create(At("configmaps", "", "", "team"), J(R"({"metadata":{"name":"a"}})")));
  REQUIRE(store_.Create(At("configmaps", "", "", "team"),
                        J(R"({"metadata":{"name":"b","finalizers":["x.io/f"]}})")));
  REQUIRE(Make("configmaps", R"({"metadata":{"name":"a"}})"));
  auto deleted = store_.Delete(At("namespaces", "team"));
  REQUIRE(deleted);
  CHECK_FALSE(deleted->removed);
  CHECK(deleted->object->StringAt({"status", "phase"}) == "Terminating");

  auto late = store_.Create(At("configmaps", "", "", "team"), J(R"({"metadata":{"name":"c"}})"));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == 403);
  CHECK(late.error().details.causes.at(0).reason == "NamespaceTerminating");

  RunBackground();
  CHECK_FALSE(Exists(At("configmaps", "a", "", "team")));
  CHECK(Exists(At("configmaps", "b", "", "team")));
  CHECK(Exists(At("namespaces", "team")));
  REQUIRE(Merge(At("configmaps", "b", "", "team"), R"({"metadata":{"finalizers":[]}})"));
  RunBackground();
  CHECK_FALSE(Exists(At("namespaces", "team")));
  CHECK(Exists(At("configmaps", "a")));
  CHECK(store_.Delete(At("namespaces", "default")).error().code == 403);
}

TEST_CASE_METHOD(DeletionTest, "owners: dependents are deleted with their last owner",
                 "[sandbox]") {
  auto first = Make("configmaps", R"({"metadata":{"name":"one"}})");
  auto second = Make("configmaps", R"({"metadata":{"name":"two"}})");
  Value child = J(R"({"metadata":{"name":"child"}})");
  json::Array owners;
  for (const auto* owner : {&*first, &*second}) {
    owners.push_back(json::Object{{"apiVersion", "v1"},
                                  {"kind", "ConfigMap"},
                                  {"name", api::Name(*owner->object)},
                                  {"uid", api::Uid(*owner->object)}});
  }
  child.Make({"metadata", "ownerReferences"}) = owners;
  REQUIRE(store_.Create(At("secrets", ""), child));
  REQUIRE(store_.Delete(At("configmaps", "one")));
  RunBackground();
  REQUIRE(Exists(At("secrets", "child")));
  REQUIRE(store_.Delete(At("configmaps", "two")));
  RunBackground();
  CHECK_FALSE(Exists(At("secrets", "child")));
}

}  // namespace
}  // namespace sandbox::deletion_test
