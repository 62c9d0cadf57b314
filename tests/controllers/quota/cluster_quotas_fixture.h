#pragma once

// A controller of ClusterQuotas beside a fake cluster that tests start when they have filled it.

#include <algorithm>
#include <catch2/catch.hpp>

#include "controllers/quota/cluster/cluster_status.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/cluster_fixture.h"

namespace cluster_quotas_test {

using namespace std::chrono_literals;
using fixture::kClusterQuotas;
using fixture::kNamespaces;
using fixture::kPods;
using fixture::MakePod;

// The longest pause of a reflector between two attempts is a minute. After it, usage that no object
// explains may be an external charge, and is held for 15 s.
inline constexpr std::chrono::seconds kReconnects{80};

struct ClusterFixture : fixture::ClusterQuotaWorld {
  ClusterFixture() = default;
  ~ClusterFixture() { Stop(); }
  ClusterFixture(const ClusterFixture&) = delete;
  ClusterFixture& operator=(const ClusterFixture&) = delete;

  void Start() {
    const controllers::TrackingContext context{.executor = io.get_executor(),
                                               .scheduler = &scheduler,
                                               .client = &cluster,
                                               .reflector = {.seed = 1},
                                               .events = &events};
    served.emplace(cluster, scheduler);
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    options.exempt = exempt;
    options.on_constrained = [this] { ++constrained; };
    if (guarded) {
      options.guarded = [this](const quota::Evaluator&, const api::ObjectKey&) { return *guarded; };
      options.unenforced = [this] { return unenforced; };
    }
    controller = std::make_unique<controllers::QuotaController>(context, api, *served, shared,
                                                                recorder, options);
    running = std::make_unique<base::TaskGroup>(io.get_executor());
    running->Spawn("controller", [this] { return controller->Run(); });
    scheduler.RunUntilIdle();
    scheduler.RunFor(1s);
  }
  void Stop() {
    if (!running) return;
    running->Cancel();
    scheduler.RunFor(60s);
    running.reset();
    controller.reset();
  }

  void PutPod(const std::string& name, const std::string& ns) {
    cluster.Put(kPods, MakePod(name, "100m", ns));
  }
  // Returns the member of its status, or "".
  [[nodiscard]] std::string Member(const std::string& quota,
                                   std::initializer_list<std::string_view> path) const {
    const json::Value* object = cluster.Find(kClusterQuotas, "", quota);
    const json::Value* value = object == nullptr ? nullptr : object->At({"status"});
    for (const std::string_view name : path) {
      if (value != nullptr) value = value->At({name});
    }
    if (value == nullptr) return "";
    return value->IsString() ? *value->AsString() : json::Write(*value);
  }
  [[nodiscard]] std::string UsedPods(const std::string& quota) const {
    return Member(quota, {"used", "pods"});
  }
  [[nodiscard]] const json::Value* FindCondition(const std::string& quota,
                                                 std::string_view type) const {
    const json::Value* object = cluster.Find(kClusterQuotas, "", quota);
    return controllers::FindCondition(object->At({"status", "conditions"}), type);
  }
  // Returns status and reason, for example "True Counted".
  [[nodiscard]] std::string Condition(const std::string& quota, std::string_view type) const {
    const json::Value* one = FindCondition(quota, type);
    if (one == nullptr) return "";
    return std::string(one->StringAt({"status"})) + " " + std::string(one->StringAt({"reason"}));
  }
  [[nodiscard]] std::string Message(const std::string& quota, std::string_view type) const {
    const json::Value* one = FindCondition(quota, type);
    return one == nullptr ? "" : std::string(one->StringAt({"message"}));
  }
  // The writes of this quota since `cluster.writes` was cleared.
  [[nodiscard]] std::ptrdiff_t WritesOf(const std::string& quota) const {
    return std::ranges::count_if(cluster.writes, [&](const client::ApiRequest& request) {
      return request.path.find("/clusterquotas/" + quota + "/") != std::string::npos;
    });
  }
  void Edit(const std::string& quota, const std::string& status_member, json::Value value) {
    json::Value object = *cluster.Find(kClusterQuotas, "", quota);
    object.Make({"status", status_member}) = std::move(value);
    cluster.Put(kClusterQuotas, std::move(object));
  }

  quota::QuotaApi api = quota::ClusterQuotaApi();
  std::shared_ptr<std::set<std::string, std::less<>>> exempt =
      fixture::NamesOf({"kube-public", "kube-system"});
  std::optional<bool> guarded;  // whether admission guards all kinds; nullopt: it does not decide
  std::optional<controllers::Unenforced> unenforced{std::in_place};  // if it decides
  int constrained = 0;  // how often the controller said that other namespaces may be limited
  std::optional<controllers::ServedResources> served;
  controllers::SharedResources shared;
  fixture::Recorder recorder;
  fixture::EventList events;
  std::unique_ptr<controllers::QuotaController> controller;
  std::unique_ptr<base::TaskGroup> running;
};

inline const json::Object kFivePods{{"hard", json::Object{{"pods", "5"}}}};

}  // namespace cluster_quotas_test
