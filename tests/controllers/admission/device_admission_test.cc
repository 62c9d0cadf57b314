// Requests for device claims while it is not known what their classes use.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/quota/devices_fixture.h"

namespace device_admission_test {
namespace {

using namespace std::chrono_literals;
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
using fixture::MakePod;
using fixture::MakeQuota;

bool ReadsClasses(const client::ApiRequest& request) {
  return request.path.find("deviceclasses") != std::string::npos;
}

// The resources that admission guards: those that the tracker calls constrained, as in the daemon.
struct Rules {
  std::set<std::string> guarded;
  std::function<void()> follow;
};

controllers::QuotaControllerOptions GuardedBy(const Rules& rules) {
  controllers::QuotaControllerOptions options;
  options.guarded = [&rules](const quota::Evaluator& evaluator, const api::ObjectKey&) {
    return rules.guarded.contains(evaluator.resource.resource);
  };
  options.on_constrained = [&rules] {
    if (rules.follow) rules.follow();
  };
  return options;
}

struct Devices : Rules, fixture::ControllerFixture {
  Devices() : ControllerFixture(GuardedBy(*this)) {
    ServeDevices(*this);
    cluster.Put(kClasses, DeviceClass("gpu", "example.com/gpu"));
    follow = [this] {
      guarded.clear();
      for (const auto* evaluator : controller->tracker().Constrained()) {
        guarded.insert(evaluator->resource.resource);
      }
      controller->OnGuards();
    };
  }
  ~Devices() {
    cluster.ForgetFunctions();
    if (admitter) calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(1min);
  }

  // From now on the role does not allow to list classes.
  void ForbidClasses() {
    cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!ReadsClasses(request)) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
    };
  }
  // Stores a quota with this status.
  void PutQuota(const std::string& name, const json::Object& hard, const json::Object& used,
                const std::string& ns = "team-a") {
    json::Value quota = MakeQuota(name, hard, ns);
    quota.Make({"status"}) = json::Object{{"hard", hard}, {"used", used}};
    cluster.Put(kQuotas, std::move(quota));
    RunFor(2s);
  }
  // "" if it is admitted, else "403 why".
  std::string Ask(json::Value object, const api::GroupVersionResource& resource = kClaims,
                  const json::Value& stored = {}) {
    if (!admitter) {
      admitter.emplace(io.get_executor(), scheduler, admission::NoObserver());
      fixture::Enforce(*admitter, api, *controller);
    }
    object.Make({"metadata", "uid"}) = "uid-" + std::to_string(++asked);
    admission::Review review{.uid = "call",
                             .resource = resource,
                             .ns = "team-a",
                             .name = "o",
                             .object = std::move(object)};
    if (!stored.IsNull()) {
      review.operation = admission::Operation::kUpdate;
      review.old_object = stored;
    }
    std::optional<admission::Answer> answer;
    calls.Spawn("call", [&]() -> base::Task<void> {
      co_await base::DeferCancellation();
      answer = co_await admitter->Admit(std::move(review), scheduler.Now() + 5s);
    });
    RunFor(100ms);
    REQUIRE(answer.has_value());
    if (answer->kind == admission::Answer::Kind::kAllowed) return "";
    return std::to_string(answer->code) + " " + answer->message;
  }
  std::optional<admission::QuotaAdmitter> admitter;
  base::TaskGroup calls{io.get_executor()};
  int asked = 0;
};

constexpr const char* kForbidden =
    "503 failed quota: q: device classes are not known: "
    "list deviceclasses.v1.resource.k8s.io: not yours";

}  // namespace

TEST_CASE("device admission: a claim is unavailable while its classes cannot be listed",
          "[admission]") {
  Devices f;
  f.ForbidClasses();
  SECTION("the resource of a class") {
    f.PutQuota("q", {{kGpu, "8"}}, {{kGpu, "3"}});
    CHECK(f.Ask(DeviceClaim("c", 1)) == kForbidden);
  }
  SECTION("the implicit resource of a class") {
    f.PutQuota("q", {{kImplicit, "8"}}, {{kImplicit, "3"}});
    CHECK(f.Ask(DeviceClaim("c", 1)) == kForbidden);
  }
  CHECK(f.cluster.writes.empty());
  f.cluster.fault = nullptr;
  f.RunFor(1min);
  CHECK(f.Ask(DeviceClaim("c", 1)).empty());
  CHECK(f.Ask(DeviceClaim("d", 9)).starts_with("403 exceeded quota: q, requested: "));
}

TEST_CASE("device admission: unknown classes concern only claims that a quota limits by class",
          "[admission]") {
  Devices f;
  f.ForbidClasses();
  f.PutQuota("elsewhere", {{kGpu, "8"}}, {{kGpu, "0"}}, "team-b");
  CHECK(f.Ask(DeviceClaim("c", 1)).empty());

  f.PutQuota("devices", {{kDevices, "8"}, {"pods", "9"}}, {{kDevices, "0"}, {"pods", "0"}});
  CHECK(f.Ask(DeviceClaim("c", 2)).empty());
  CHECK(f.Ask(DeviceClaim("c", 9)).starts_with("403 exceeded quota: devices"));

  json::Value scoped = MakeQuota("scoped", {{kGpu, "8"}});
  scoped.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  scoped.Make({"status"}) =
      json::Object{{"hard", json::Object{{kGpu, "8"}}}, {"used", json::Object{{kGpu, "0"}}}};
  f.cluster.Put(kQuotas, scoped);
  f.RunFor(2s);
  CHECK(f.Ask(DeviceClaim("c", 1)).empty());

  f.PutQuota("q", {{kGpu, "8"}}, {{kGpu, "3"}});
  json::Value none = DeviceClaim("none", 1);
  none.Make({"spec"}) = json::Object();
  CHECK(f.Ask(none).empty());
  CHECK(f.Ask(MakePod("p"), kPods).empty());
  CHECK(f.Ask(GpuPod("p", "5"), kPods).empty());
  CHECK(f.Ask(GpuPod("p", "6"), kPods).starts_with("403 exceeded quota: "));
  f.cluster.Put(kClaims, DeviceClaim("stored", 1));
  const json::Value stored = *f.cluster.Find(kClaims, "team-a", "stored");
  CHECK(f.Ask(stored, kClaims, stored).empty());
  CHECK(f.Ask(DeviceClaim("c", 1)) == kForbidden);
}

TEST_CASE("device admission: a claim is unavailable until its classes are listed", "[admission]") {
  Devices f;
  f.cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    return ReadsClasses(request) ? 10s : 0s;
  };
  f.PutQuota("q", {{kGpu, "8"}}, {{kGpu, "3"}});
  CHECK(f.Ask(DeviceClaim("c", 9)) == "503 failed quota: q: device classes are not known yet");
  f.cluster.stall = nullptr;
  f.RunFor(20s);
  CHECK(f.Ask(DeviceClaim("c", 9)).starts_with("403 exceeded quota: q"));

  f.ForbidClasses();
  f.cluster.CutWatches(kClasses, true);
  f.RunFor(5s);
  CHECK(f.Ask(DeviceClaim("c", 9)).starts_with("403 exceeded quota: q"));
  CHECK(f.Ask(DeviceClaim("c", 1)).empty());
}

TEST_CASE("device admission: a server without classes has none to wait for", "[admission]") {
  Devices f;
  f.cluster.StopServing(kClasses);
  f.RunFor(1min);
  f.PutQuota("q", {{kGpu, "8"}}, {{kGpu, "3"}});
  CHECK(f.Ask(DeviceClaim("c", 9)).empty());
}

TEST_CASE("device admission: classes that can be watched count, whatever discovery says",
          "[admission]") {
  Devices f;
  f.PutQuota("q", {{kGpu, "8"}}, {{kGpu, "3"}});
  f.RunFor(40s);
  f.cluster.hidden.insert(kClasses.group);
  f.RunFor(5min);
  CHECK(f.guarded == std::set<std::string>{"pods", "resourceclaims"});
  CHECK(f.Ask(DeviceClaim("c", 9)).starts_with("403 exceeded quota: q"));
}

TEST_CASE("device admission: claims are guarded while their classes cannot be listed",
          "[admission]") {
  Devices f;
  f.ForbidClasses();
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "8"}}));
  f.RunFor(20s);
  CHECK(f.guarded == std::set<std::string>{"pods", "resourceclaims"});
  CHECK(f.Hard("q") == "requests.example.com/gpu=8");
  CHECK(f.Ask(DeviceClaim("c", 1)) == kForbidden);
  CHECK(f.Ask(GpuPod("p", "1"), kPods).starts_with("403 status unknown for quota: q"));
  CHECK(f.Ask(MakePod("p"), kPods).empty());
  f.cluster.fault = nullptr;
  f.cluster.Delete(kClasses, "", "gpu");
  f.RunFor(2min);
  CHECK(f.guarded == std::set<std::string>{"pods"});
  CHECK(f.Ask(GpuPod("p", "1"), kPods).empty());
}

}  // namespace device_admission_test
