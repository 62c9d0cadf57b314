// Usage that depends on a cluster-scoped class object. The example is the extended resources of
// device claims (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/resource_claims.go).
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/controllers/quota/devices_fixture.h"

namespace classes_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::DeviceClaim;
using fixture::DeviceClass;
using fixture::GpuPod;
using fixture::kClaims;
using fixture::kClasses;
using fixture::kDevices;
using fixture::kGpu;
using fixture::kImplicit;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::ServeDevices;

json::Value OwnedBy(json::Value claim, const std::string& pod, const std::string& pod_uid) {
  json::Object reference{
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod}, {"uid", pod_uid}, {"controller", true}};
  claim.Make({"metadata", "ownerReferences"}) = json::Array{std::move(reference)};
  claim.Make({"metadata", "annotations", "resource.kubernetes.io/extended-resource-claim"}) =
      "true";
  claim.Make({"metadata", "creationTimestamp"}) = "2026-01-01T00:00:00Z";
  return claim;
}

struct Devices : ControllerFixture {
  Devices() : ControllerFixture({.resync_period = 0s}) { ServeDevices(*this); }
  std::string Watched() const {
    std::string text;
    for (const auto& tracked : controller->tracker().Watched()) {
      text += (text.empty() ? "" : " ") + tracked->resource().resource;
    }
    return text;
  }
  std::string UidOf(const std::string& pod) {
    return std::string(cluster.Find(kPods, "team-a", pod)->StringAt({"metadata", "uid"}));
  }
};

}  // namespace

TEST_CASE("classes: usage follows a class that is created, changed and deleted", "[controllers]") {
  Devices f;
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "10"}, {"requests.example.com/tpu", "10"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.example.com/gpu=0,requests.example.com/tpu=0");
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "requests.example.com/gpu=3,requests.example.com/tpu=0");
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/tpu"));
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "requests.example.com/gpu=0,requests.example.com/tpu=3");
  f.cluster.Delete(kClasses, "", "gpu");
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "requests.example.com/gpu=0,requests.example.com/tpu=0");
}

TEST_CASE("classes: pods and claims of all classes with one resource add up", "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kClasses, DeviceClass("newer", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}, {kImplicit, "90"}, {kDevices, "90"}}));
  f.cluster.Put(kPods, GpuPod("p", "4"));
  f.cluster.Put(kClaims, DeviceClaim("one", 1));
  f.cluster.Put(kClaims, DeviceClaim("two", 2, "newer"));
  f.RunFor(5s);
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=1,"
        "requests.deviceclass.resource.kubernetes.io/gpu=1,requests.example.com/gpu=7");
  f.cluster.Delete(kClaims, "team-a", "two");
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=1,"
        "requests.deviceclass.resource.kubernetes.io/gpu=1,requests.example.com/gpu=5");
}

TEST_CASE("classes: a claim made for a pod counts once, in either order of events",
          "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}));
  f.RunFor(5s);
  f.cluster.Put(kPods, GpuPod("p", "2"));
  f.cluster.Put(kClaims, OwnedBy(DeviceClaim("c", 2), "p", f.UidOf("p")));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.example.com/gpu=2");

  SECTION("the events of the pod are late") {
    f.cluster.Hold(kPods);
    f.cluster.Put(kPods, GpuPod("late", "1"));
    f.cluster.Put(kClaims, OwnedBy(DeviceClaim("d", 1), "late", f.UidOf("late")));
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=3");
    f.cluster.Release(kPods);
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=3");
  }
  SECTION("a second claim of the same pod counts in full") {
    json::Value second = OwnedBy(DeviceClaim("second", 2), "p", f.UidOf("p"));
    second.Make({"metadata", "creationTimestamp"}) = "2026-01-01T00:00:05Z";
    f.cluster.Put(kClaims, second);
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=4");
    json::Value pod = *f.cluster.Find(kPods, "team-a", "p");
    pod.Make({"status", "extendedResourceClaimStatus", "resourceClaimName"}) = "elsewhere";
    f.cluster.Put(kPods, pod);
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=6");
  }
  SECTION("the pod finishes, and its claim is still there") {
    json::Value pod = *f.cluster.Find(kPods, "team-a", "p");
    pod.Make({"status", "phase"}) = "Succeeded";
    f.cluster.Put(kPods, pod);
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=2");
    f.cluster.Delete(kClaims, "team-a", "c");
    f.RunFor(1s);
    CHECK(f.Used("q") == "requests.example.com/gpu=0");
  }
}

TEST_CASE("classes: the claim of a group counts once, however many pods share it",
          "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}, {kDevices, "90"}, {"pods", "90"}}));
  json::Value claim = DeviceClaim("train-gpus-x7f2k", 3);
  claim.Make({"metadata", "annotations", "resource.kubernetes.io/pod-claim-name"}) = "gpus";
  claim.Make({"metadata", "ownerReferences"}) =
      json::Array{json::Object{{"apiVersion", "scheduling.k8s.io/v1beta1"},
                               {"kind", "PodGroup"},
                               {"name", "train"},
                               {"uid", "u"},
                               {"controller", true}}};
  f.cluster.Put(kClaims, claim);
  for (const char* name : {"a", "b", "c"}) {
    json::Value pod = fixture::MakePod(name);
    pod.Make({"spec", "schedulingGroup", "podGroupName"}) = "train";
    pod.Make({"spec", "resourceClaims"}) =
        json::Array{json::Object{{"name", "gpus"}, {"resourceClaimTemplateName", "three"}}};
    f.cluster.Put(kPods, pod);
  }
  f.RunFor(5s);
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=3,pods=3,requests.example.com/gpu=3");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=3,pods=2,requests.example.com/gpu=3");
}

TEST_CASE("classes: claims are watched only if a class gives a quota's name to them",
          "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("tpu", "example.com/tpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "9"}, {kImplicit, "9"}}));
  f.RunFor(5s);
  CHECK(f.Watched() == "pods");
  f.cluster.Put(kClasses, DeviceClass("gpu", ""));  // only its implicit name
  f.RunFor(5s);
  CHECK(f.Watched() == "pods resourceclaims");
  f.cluster.Delete(kClasses, "", "gpu");
  f.RunFor(2min);
  CHECK(f.Watched() == "pods");
}

TEST_CASE("classes: they are listed only for names that depend on them", "[controllers]") {
  Devices f;
  std::size_t asked = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("deviceclasses") != std::string::npos) ++asked;
    return std::nullopt;
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "9"}, {kDevices, "9"}}));
  f.RunFor(1min);
  CHECK(asked == 0);
  f.cluster.Put(kQuotas, MakeQuota("gpus", {{kGpu, "9"}}));
  f.RunFor(1min);
  CHECK(asked == 2);  // one list, one watch
  CHECK(f.Used("gpus") == "requests.example.com/gpu=0");
}

TEST_CASE("classes: an API server without them is not asked more often", "[controllers]") {
  ControllerFixture f;
  std::size_t discoveries = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path == "/apis") ++discoveries;
    return std::nullopt;
  };
  f.cluster.Put(kPods, GpuPod("p", "4"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}));
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "requests.example.com/gpu=4");
  std::string why;
  CHECK(f.controller->Ready(&why));
  f.RunFor(1s);
  discoveries = 0;
  f.RunFor(5min);
  CHECK(discoveries <= 11);  // as without the quota: every 30 s

  f.cluster.Serve(kClaims, "ResourceClaim");
  f.cluster.Serve(kClasses, "DeviceClass", false);
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.RunFor(35s);
  CHECK(f.Used("q") == "requests.example.com/gpu=7");
}

TEST_CASE("classes: while they cannot be listed, only their names keep the last value",
          "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}, {"pods", "9"}, {kDevices, "9"}}));
  f.RunFor(5s);
  REQUIRE(f.Used("q") ==
          "gpu.deviceclass.resource.k8s.io/devices=3,pods=0,requests.example.com/gpu=3");
  f.Stop();
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("deviceclasses") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
  };
  f.cluster.Put(kPods, GpuPod("p", "4"));
  f.cluster.Put(kClaims, DeviceClaim("d", 2));
  f.Start();
  f.RunFor(5s);
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=5,pods=1,requests.example.com/gpu=3");
  std::string why;
  CHECK(f.controller->Ready(&why));
  f.cluster.fault = nullptr;
  f.RunFor(2min);
  CHECK(f.Used("q") ==
        "gpu.deviceclass.resource.k8s.io/devices=5,pods=1,requests.example.com/gpu=9");
}

TEST_CASE("classes: during a relist admission uses the classes that were known", "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "8"}}));
  f.RunFor(5s);
  const quota::Evaluator* claims = nullptr;
  for (const quota::Evaluator& evaluator : f.api.evaluators) {
    if (evaluator.resource.resource == "resourceclaims") claims = &evaluator;
  }
  REQUIRE(claims != nullptr);
  const auto facts = claims->facts_of(DeviceClaim("c", 3), {});
  REQUIRE(facts.has_value());
  const auto usage = [&] {
    const auto resolved = f.controller->object_book().SubjectOf(*claims, "team-a", *facts);
    return resolved ? resolved->subject.usage.Get(kGpu).ToString() : resolved.error().message;
  };
  CHECK(usage() == "3");
  f.cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    const bool watch = !request.query.empty() && request.query[0].first == "watch";
    const bool classes = request.path.find("deviceclasses") != std::string::npos;
    return classes && !watch ? 20s : 0s;
  };
  f.cluster.CutWatches(kClasses, true);
  f.RunFor(5s);
  CHECK(usage() == "3");
  CHECK(f.controller->object_book().ClassesOf(*claims)->AnyUses(kGpu));
}

TEST_CASE("classes: a change enqueues only quotas whose objects refer to the class",
          "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.cluster.Put(kClaims, DeviceClaim("c", 3, "tpu", "team-b"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}));
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "90"}}));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}, "team-b"));
  f.RunFor(5s);
  f.recorder.reconciles.clear();
  json::Value same = DeviceClass("gpu", "example.com/gpu");
  same.Make({"metadata", "labels", "a"}) = "b";
  f.cluster.Put(kClasses, same);
  f.RunFor(1s);
  CHECK(f.recorder.reconciles.empty());
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/else"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.example.com/gpu=0");
  // The watch event of our own status write causes no further work.
  CHECK(f.recorder.reconciles == std::map<std::string, int>{{"written", 1}});
}

TEST_CASE("classes: a scoped quota counts no claims", "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.cluster.Put(kPods, GpuPod("p", "2"));
  json::Value quota = MakeQuota("q", {{kGpu, "90"}});
  quota.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(5s);
  CHECK(f.Used("q") == "requests.example.com/gpu=2");
}

TEST_CASE("classes: an external charge for a claim ends when the claim is seen", "[controllers]") {
  Devices f;
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}));
  f.RunFor(15s);
  f.WriteStatus("q", {{kGpu, "90"}}, {{kGpu, "3"}});  // as the API server's plugin charges
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.example.com/gpu=3");
  f.cluster.Put(kClaims, DeviceClaim("c", 3));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.example.com/gpu=3");
  f.cluster.Delete(kClaims, "team-a", "c");
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "requests.example.com/gpu=0");
}

TEST_CASE("classes: a resync finds no drift", "[controllers]") {
  ControllerFixture f({.resync_period = 10s});
  ServeDevices(f);
  f.cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
  f.cluster.Put(kPods, GpuPod("p", "2"));
  const auto uid = f.cluster.Find(kPods, "team-a", "p")->StringAt({"metadata", "uid"});
  f.cluster.Put(kClaims, OwnedBy(DeviceClaim("c", 3), "p", std::string(uid)));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "90"}}));
  f.RunFor(5s);
  REQUIRE(f.Used("q") == "requests.example.com/gpu=3");
  f.cluster.writes.clear();
  f.RunFor(5min);
  CHECK(f.recorder.resyncs >= 20);
  CHECK(f.recorder.drift.objects() == 0);
  CHECK(f.cluster.writes.empty());
}

}  // namespace classes_test
