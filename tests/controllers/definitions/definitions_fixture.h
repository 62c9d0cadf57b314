#pragma once

// UsageDefinitions beside a fake cluster.

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controllers/definitions/definition_controller.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/fake/fake_cluster.h"

namespace definition_controller_test {
using namespace std::chrono_literals;
using controllers::DefinedUse;
using controllers::DefinitionController;
using controllers::DefinitionResource;

inline const api::GroupVersionResource kBuckets{"example.com", "v1", "buckets"};
inline const api::GroupVersionResource kNewBuckets{"example.com", "v2", "buckets"};
inline const api::GroupVersionResource kTiers{"example.com", "v1", "tiers"};
inline const api::GroupVersionResource kDisks{"example.com", "v1", "disks"};

// A kind of example.com whose spec has these members, in a document.
inline std::string KindOf(const std::string& kind, const std::string& members,
                          const std::string& version = "v1") {
  return "\"com.example." + version + "." + kind +
         R"(":{"x-kubernetes-group-version-kind":[{"group":"example.com","version":")" + version +
         R"(","kind":")" + kind + R"("}],"properties":{"spec":{"type":"object","properties":{)" +
         members + "}}}}";
}

inline std::string DocumentOf(const std::string& kinds) {
  return R"({"components":{"schemas":{)" + kinds + "}}}";
}

inline const std::string kSize = R"("size":{"type":"string"})";
inline const std::string kOther = R"("max":{"type":"string"})";

inline bool IsCore(const std::string& resource) {
  return resource == "pods" || resource == "secrets";
}

// The document of a version in which these kinds may have any field.
inline std::string FreeFormKinds(const std::string& version) {
  std::string kinds;
  for (const char* kind : {"Bucket", "Disk"}) {
    kinds +=
        (kinds.empty() ? "\"" : ",\"") + std::string(kind) +
        R"(":{"x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-group-version-kind":)" +
        R"([{"group":"example.com","version":")" + version + R"(","kind":")" + kind + R"("}]})";
  }
  return R"({"components":{"schemas":{)" + kinds + "}}}";
}

struct Definitions {
  Definitions() {
    for (const std::string version : {"v1", "v2"}) {
      cluster.documents["/openapi/v3/apis/example.com/" + version] = FreeFormKinds(version);
    }
    cluster.Serve(DefinitionResource(), "UsageDefinition", false);
    cluster.Serve(kBuckets, "Bucket");
    cluster.Serve(kDisks, "Disk");
  }
  ~Definitions() { Stop(); }
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  void Start() {
    served.emplace(cluster, scheduler);
    controller = std::make_unique<DefinitionController>(
        controllers::TrackingContext{.executor = io.get_executor(),
                                     .scheduler = &scheduler,
                                     .client = &cluster,
                                     .reflector = {.seed = 1}},
        *served,
        controllers::DefinitionHooks{
            .define =
                [this](const api::GroupResource& resource,
                       const std::optional<quota::Evaluator>& by) {
                  ++changes;
                  if (on_change) std::exchange(on_change, nullptr)();
                  if (by) {
                    defined.insert_or_assign(resource.resource, *by);
                  } else {
                    CHECK(defined.erase(resource.resource) == 1);
                  }
                },
            .use_of = [this](const api::GroupResource&) { return use; },
            .class_use_of = [this](const api::GroupResource&) { return class_use; },
            .built_in =
                [this](const api::GroupResource& resource) {
                  ++judged;
                  return quota::BuiltInEvaluator(resource);
                },
            .leading = [this] { return leads; }});
    running = std::make_unique<base::TaskGroup>(io.get_executor());
    running->Spawn("definitions", [this] { return controller->Run(); });
    scheduler.RunUntilIdle();
  }
  void Stop() {
    if (!running) return;
    cluster.ForgetFunctions();
    running->Cancel();
    scheduler.RunFor(60s);
    running.reset();
    controller.reset();
  }
  void Put(const std::string& resource, const std::string& name, const std::string& path,
           int generation = 1, const std::string& created = "2026-01-01T00:00:00Z") {
    json::Value amount = json::Object{{"name", name}, {"path", path}};
    json::Value object;
    object.Make({"metadata"}) =
        json::Object{{"name", IsCore(resource) ? resource : resource + ".example.com"},
                     {"uid", "uid-of-" + resource},
                     {"generation", generation},
                     {"creationTimestamp", created}};
    object.Make({"spec", "resource"}) =
        json::Object{{"group", IsCore(resource) ? "" : "example.com"}, {"resource", resource}};
    object.Make({"spec", "usage"}) = json::Array{std::move(amount)};
    cluster.Put(DefinitionResource(), std::move(object));
  }
  // Buckets whose class is in this field of tiers.
  void PutWithClass(const std::string& field) {
    json::Value amount;
    amount.Make({"name"}) = "example.com/iops";
    amount.Make({"class", "path"}) = ".spec.tier";
    amount.Make({"class", "field"}) = field;
    amount.Make({"class", "resource"}) =
        json::Object{{"group", "example.com"}, {"resource", "tiers"}};
    json::Value object;
    object.Make({"metadata"}) =
        json::Object{{"name", "buckets.example.com"}, {"uid", "uid-1"}, {"generation", 1}};
    object.Make({"spec", "resource"}) =
        json::Object{{"group", "example.com"}, {"resource", "buckets"}};
    object.Make({"spec", "usage"}) = json::Array{std::move(amount)};
    cluster.Put(DefinitionResource(), std::move(object));
  }
  // Asks what is served.
  // Twice, because one answer alone does not make a kind absent.
  void Discover() {
    for (int i = 0; i < 2; ++i) {
      running->Spawn("discovery",
                     [this]() -> base::Task<void> { (void)co_await served->Refresh(); });
      scheduler.RunFor(5s);
    }
  }
  void Delete(const std::string& resource) {
    cluster.Delete(DefinitionResource(), "",
                   IsCore(resource) ? resource : resource + ".example.com");
  }
  // "buckets=v1 disks=v1"
  [[nodiscard]] std::string Defined() const {
    std::string text;
    for (const auto& [resource, evaluator] : defined) {
      text += (text.empty() ? "" : " ") + resource + "=" + evaluator.version;
    }
    return text;
  }
  // "True Counting: text" of a condition.
  [[nodiscard]] std::string Condition(const std::string& name, const std::string& type) const {
    const json::Value* object = cluster.Find(DefinitionResource(), "", name);
    const json::Value* one = controllers::FindCondition(object->At({"status", "conditions"}), type);
    if (one == nullptr) return "";
    return std::string(one->StringAt({"status"})) + " " + std::string(one->StringAt({"reason"})) +
           ": " + std::string(one->StringAt({"message"}));
  }
  [[nodiscard]] std::string Status(const std::string& field) const {
    const json::Value* object = cluster.Find(DefinitionResource(), "", "buckets.example.com");
    return std::string(object->StringAt({"status", field}));
  }
  [[nodiscard]] std::string Ready(const std::string& name = "buckets.example.com") const {
    return Condition(name, "Ready");
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  std::optional<controllers::ServedResources> served;
  std::map<std::string, quota::Evaluator> defined;
  int changes = 0;
  int judged = 0;                   // calls of the hook `built_in`
  std::function<void()> on_change;  // called at the next change; may be null
  DefinedUse use;
  DefinedUse class_use;
  bool leads = true;
  std::unique_ptr<DefinitionController> controller;
  std::unique_ptr<base::TaskGroup> running;
};

}  // namespace definition_controller_test
