#pragma once

// A quota controller for the ironcore API with an admitter, beside a fake cluster, in virtual time.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/quota_admitter.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

inline const api::GroupVersionResource kMachines{"compute.ironcore.dev", "v1alpha1", "machines"};
inline const api::GroupVersionResource kMachineClasses{"compute.ironcore.dev", "v1alpha1",
                                                       "machineclasses"};
inline const api::GroupVersionResource kVolumes{"storage.ironcore.dev", "v1alpha1", "volumes"};
inline const api::GroupVersionResource kBuckets{"storage.ironcore.dev", "v1alpha1", "buckets"};
inline const api::GroupVersionResource kBucketClasses{"storage.ironcore.dev", "v1alpha1",
                                                      "bucketclasses"};
inline constexpr const char* kMachineCount = "count/machines.compute.ironcore.dev";

inline json::Value MakeMachine(const std::string& name, const std::string& of,
                               const std::string& state = "", const std::string& ns = "team-a") {
  json::Value machine = json::Object{{"metadata", json::Object{{"name", name}, {"namespace", ns}}}};
  machine.Make({"metadata", "uid"}) = std::string("uid-of-").append(ns).append(name);
  machine.Make({"spec", "machineClassRef", "name"}) = of;
  if (!state.empty()) machine.Make({"status", "state"}) = state;
  return machine;
}

inline json::Value MakeClass(const std::string& name, const json::Object& capabilities) {
  return json::Object{{"metadata", json::Object{{"name", name}}}, {"capabilities", capabilities}};
}

// The quota with expressions like {"MachineClass", "In", {"large"}}.
inline json::Value WithScope(json::Value quota, const std::string& scope, const std::string& op,
                             const std::vector<std::string>& values = {}) {
  json::Array list(values.begin(), values.end());
  quota.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{
      json::Object{{"scopeName", scope}, {"operator", op}, {"values", std::move(list)}}};
  return quota;
}

struct IroncoreFixture : ControllerFixture {
  explicit IroncoreFixture(bool classes_served = true) : ControllerFixture({.resync_period = {}}) {
    Stop();
    api = quota::IroncoreQuotaApi();
    api.resource = kQuotas;  // where the fixture reads them
    cluster.Serve(kMachines, "Machine");
    if (classes_served) cluster.Serve(kMachineClasses, "MachineClass", false);
    cluster.Serve(kVolumes, "Volume");
    cluster.Serve(kBuckets, "Bucket");
    cluster.Serve(kBucketClasses, "BucketClass", false);
    cluster.Put(kBucketClasses, MakeClass("fast", {{"tps", "1"}, {"iops", "10"}}));
    Start();
    admitter.emplace(io.get_executor(), scheduler, admission::NoObserver());
    Enforce(*admitter, api, *controller);
  }
  ~IroncoreFixture() {
    cluster.ForgetFunctions();
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(std::chrono::minutes(1));
  }

  void PutClass(const std::string& name, const std::string& cpu, const std::string& memory) {
    cluster.Put(kMachineClasses, MakeClass(name, {{"cpu", cpu}, {"memory", memory}}));
  }
  // Reviews a creation of this machine, or an update of `stored`, without storing it. Returns "" if
  // it is admitted, else why not.
  std::string Ask(const json::Value& machine, const json::Value& stored = {}) {
    std::optional<admission::Answer> answer;
    admission::Review review{
        .uid = "call", .resource = kMachines, .ns = "team-a", .name = "m", .object = machine};
    if (!stored.IsNull()) {
      review.operation = admission::Operation::kUpdate;
      review.old_object = stored;
      review.old_object.Make({"metadata", "resourceVersion"}) = "1000000";
    }
    calls.Spawn("call", [this, &answer, review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + std::chrono::seconds(5);
      answer = co_await admitter->Admit(review, deadline);
    });
    RunFor(std::chrono::milliseconds(100));
    if (!answer) return "no answer yet";
    return answer->kind == admission::Answer::Kind::kAllowed ? "" : answer->message;
  }

  std::optional<admission::QuotaAdmitter> admitter;
  base::TaskGroup calls{io.get_executor()};
};

}  // namespace fixture
