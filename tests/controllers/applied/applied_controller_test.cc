// AppliedClusterQuotas beside the controller of ClusterQuotas and a fake cluster.

#include "controllers/applied/applied_controller.h"

#include <catch2/catch.hpp>

#include "controllers/applied/applied_view.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/cluster_fixture.h"

namespace applied_controller_test {
namespace {

using namespace std::chrono_literals;
using fixture::kClusterQuotas;
using fixture::kNamespaces;
using fixture::kPods;
using fixture::MakePod;

class Results final : public controllers::AppliedObserver {
 public:
  void OnAppliedWrite(std::string_view result) override { ++counts[std::string(result)]; }
  std::map<std::string, int> counts;
};

struct AppliedFixture : fixture::ClusterQuotaWorld {
  AppliedFixture() {
    cluster.Serve(controllers::AppliedResource(), "AppliedClusterQuota");
    PutNamespace("a-1", "a");
    PutNamespace("a-2", "a");
    PutNamespace("b-1", "b");
    PutQuota("a", json::Object{{"hard", json::Object{{"pods", "5"}}}, {"parent", "company"}}, "a");
    PutQuota("company",
             json::Object{{"hard", json::Object{{"pods", "8"}}}, {"enforcement", "Warn"}});
    cluster.Put(kPods, MakePod("one", "100m", "a-1"));
  }
  ~AppliedFixture() { Stop(); }
  AppliedFixture(const AppliedFixture&) = delete;
  AppliedFixture& operator=(const AppliedFixture&) = delete;

  void Start(bool wanted = true) {
    const controllers::TrackingContext context{.executor = io.get_executor(),
                                               .scheduler = &scheduler,
                                               .client = &cluster,
                                               .reflector = {.seed = 1}};
    served.emplace(cluster, scheduler);
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    if (!guards) {
      options.guarded = [this](const quota::Evaluator&, const api::ObjectKey&) { return guards; };
    }
    controller = std::make_unique<controllers::QuotaController>(context, api, *served, shared,
                                                                recorder, options);
    view = std::make_unique<controllers::AppliedView>(*controller);
    const controllers::AppliedSource& source =
        wanted ? static_cast<const controllers::AppliedSource&>(*view) : nothing;
    applied = std::make_unique<controllers::AppliedController>(
        context, source, *served, results,
        controllers::AppliedOptions{.leading = [this] { return leads; }});
    controller->SetClusterListener(applied.get());
    running = std::make_unique<base::TaskGroup>(io.get_executor());
    running->Spawn("controller", [this] { return controller->Run(); });
    running->Spawn("applied", [this] { return applied->Run(); });
    scheduler.RunUntilIdle();
    scheduler.RunFor(5s);
  }
  void Stop() {
    if (!running) return;
    running->Cancel();
    scheduler.RunFor(60s);
    running.reset();
    applied.reset();
    controller.reset();
  }
  [[nodiscard]] const json::Value* Find(const std::string& ns, const std::string& name) const {
    return cluster.Find(controllers::AppliedResource(), ns, name);
  }
  // Returns its status, or "" if there is no object.
  [[nodiscard]] std::string Status(const std::string& ns, const std::string& name) const {
    const json::Value* object = Find(ns, name);
    return object == nullptr ? "" : json::Write(*object->At({"status"}));
  }
  // Returns the number of such writes.
  [[nodiscard]] int Count(const std::string& result) { return results.counts[result]; }

  quota::QuotaApi api = quota::ClusterQuotaApi();
  std::optional<controllers::ServedResources> served;
  controllers::SharedResources shared;
  fixture::Recorder recorder;
  Results results;
  controllers::NothingApplied nothing;
  std::unique_ptr<controllers::QuotaController> controller;
  std::unique_ptr<controllers::AppliedView> view;
  std::unique_ptr<controllers::AppliedController> applied;
  std::unique_ptr<base::TaskGroup> running;
  bool leads = true;
  bool guards = true;
};

}  // namespace

TEST_CASE_METHOD(AppliedFixture,
                 "applied: each namespace has an object for each quota that reaches it",
                 "[controllers][applied]") {
  Start();
  CHECK(Status("a-1", "a") ==
        R"({"hard":{"pods":"5"},"used":{"pods":"1"},"available":{"pods":"4"},)"
        R"("usedInNamespace":{"pods":"1"},"enforcement":"Deny","summary":"pods: 1/5",)"
        R"("parent":"company"})");
  CHECK(Status("a-2", "company") ==
        R"({"hard":{"pods":"8"},"used":{"pods":"1"},"available":{"pods":"7"},)"
        R"("usedInNamespace":{"pods":"0"},"enforcement":"Warn","summary":"pods: 1/8"})");
  CHECK(Find("b-1", "company") == nullptr);
  CHECK(Find("a-1", "a")->StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) ==
        "quota-controller-manager");
  const json::Value& owner = Find("a-1", "a")->ArrayAt({"metadata", "ownerReferences"}).front();
  CHECK(owner.StringAt({"uid"}) ==
        cluster.Find(kClusterQuotas, "", "a")->StringAt({"metadata", "uid"}));
  CHECK(Count("created") == 4);
  scheduler.RunFor(10s);
  cluster.Put(kPods, MakePod("two", "100m", "a-2"));
  scheduler.RunFor(2s);
  CHECK_THAT(Status("a-2", "a"), Catch::Contains(R"("usedInNamespace":{"pods":"1"})"));
  CHECK_THAT(Status("a-1", "a"), Catch::Contains(R"("summary":"pods: 2/5")"));
  CHECK(Count("updated") == 4);
  CHECK(Count("failed") == 0);
}

TEST_CASE_METHOD(AppliedFixture, "applied: an amount that cannot be read is not copied",
                 "[controllers][applied]") {
  Start();
  json::Value quota = *cluster.Find(kClusterQuotas, "", "a");
  quota.Make({"status", "available"}) =
      json::Object{{"cpu", "much"}, {"memory", "-1"}, {"pods", "3"}, {"secrets", true}};
  cluster.Put(kClusterQuotas, quota);
  scheduler.RunUntilIdle();
  const auto content = view->ContentOf("a-1", "a");
  REQUIRE(content.has_value());
  CHECK(content->available.ToString() == "pods=3");
}

TEST_CASE_METHOD(AppliedFixture, "applied: a quota that is not enforced yet has no objects yet",
                 "[controllers][applied]") {
  guards = false;
  Start();
  CHECK(Find("a-1", "a") == nullptr);
  guards = true;
  controller->OnGuards();
  scheduler.RunFor(5s);
  CHECK_THAT(Status("a-1", "a"), Catch::Contains(R"("summary":"pods: 1/5")"));
  CHECK(Count("updated") == 0);
}

TEST_CASE_METHOD(AppliedFixture, "applied: objects show guarantees and scopes",
                 "[controllers][applied]") {
  const auto put = [&](const char* guaranteed) {
    PutQuota("a",
             json::Object{{"hard", json::Object{{"pods", "5"}}},
                          {"guaranteed", json::Object{{"pods", guaranteed}}},
                          {"parent", "company"},
                          {"scopes", json::Array{"NotTerminating"}}},
             "a");
  };
  put("2");
  Start();
  CHECK_THAT(Status("a-1", "a"),
             Catch::EndsWith(R"("guaranteed":{"pods":"2"},"scopeSelector":{"matchExpressions":)"
                             R"([{"scopeName":"NotTerminating","operator":"Exists"}]}})"));
  // One pod is stored.
  CHECK_THAT(Status("a-1", "company"), Catch::EndsWith(R"("guaranteedBelow":{"pods":"1"}})"));
  put("4");
  scheduler.RunFor(12s);
  CHECK_THAT(Status("a-1", "a"), Catch::Contains(R"("guaranteed":{"pods":"4"})"));
  CHECK_THAT(Status("a-1", "company"), Catch::EndsWith(R"("guaranteedBelow":{"pods":"3"}})"));
}

TEST_CASE_METHOD(AppliedFixture, "applied: a relabelled namespace shows its new quotas",
                 "[controllers][applied]") {
  PutQuota("b", json::Object{{"hard", json::Object{{"pods", "3"}}}}, "b");
  Start();
  CHECK_FALSE(Status("b-1", "b").empty());
  PutNamespace("a-2", "b");
  scheduler.RunFor(2s);
  CHECK(Find("a-2", "a") == nullptr);
  CHECK(Find("a-2", "company") == nullptr);
  CHECK_FALSE(Status("a-2", "b").empty());
  cluster.Delete(kClusterQuotas, "", "b");
  scheduler.RunFor(2s);
  CHECK(Find("a-2", "b") == nullptr);
  CHECK(Find("b-1", "b") == nullptr);
  CHECK(Count("failed") == 0);
}

TEST_CASE_METHOD(AppliedFixture, "applied: a restart and another leader write nothing new",
                 "[controllers][applied]") {
  Start();
  scheduler.RunFor(30s);
  const int created = Count("created");
  Stop();
  leads = false;
  Start();
  cluster.Put(kPods, MakePod("two", "100m", "a-1"));
  scheduler.RunFor(30s);
  cluster.Delete(kPods, "a-1", "two");
  scheduler.RunFor(30s);
  leads = true;
  scheduler.RunFor(30s);
  CHECK(Count("created") == created);
  CHECK(Count("updated") == 0);
  CHECK(Count("deleted") == 0);
}

TEST_CASE_METHOD(AppliedFixture, "applied: an incomplete list removes no counts",
                 "[controllers][applied]") {
  Start();
  scheduler.RunFor(30s);
  Stop();
  cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    return request.path == "/api/v1/pods" ? base::Duration(20s) : base::Duration::zero();
  };
  Start();
  scheduler.RunFor(60s);
  CHECK(Count("updated") == 0);
  cluster.ForgetFunctions();
}

TEST_CASE_METHOD(AppliedFixture, "applied: a failed write is retried", "[controllers][applied]") {
  cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "POST") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden,
                       .message = "appliedclusterquotas is forbidden",
                       .http_status = 403};
  };
  Start();
  CHECK(Find("a-1", "a") == nullptr);
  CHECK(Count("failed") >= 1);
  cluster.fault = nullptr;
  scheduler.RunFor(60s);
  CHECK_FALSE(Status("a-1", "a").empty());
  CHECK_FALSE(Status("a-2", "company").empty());
}

TEST_CASE_METHOD(AppliedFixture, "applied: all objects are deleted when the feature is turned off",
                 "[controllers][applied]") {
  Start();
  Stop();
  json::Value other = *Find("a-1", "a");
  other.Make({"metadata", "name"}) = "other";
  other.Make({"metadata", "labels"}) = json::Object();
  other.AsObject()->Find("metadata")->AsObject()->Erase("uid");
  cluster.Put(controllers::AppliedResource(), other);
  Start(false);
  CHECK(Find("a-1", "a") == nullptr);
  CHECK(Find("a-2", "company") == nullptr);
  CHECK(Find("a-1", "other") != nullptr);
  CHECK(Count("deleted") == 4);
}

TEST_CASE_METHOD(AppliedFixture, "applied: the CRD may be installed later, and deleted",
                 "[controllers][applied]") {
  cluster.StopServing(controllers::AppliedResource());
  Start();
  CHECK(results.counts.empty());
  cluster.Serve(controllers::AppliedResource(), "AppliedClusterQuota");
  scheduler.RunFor(60s);
  CHECK_FALSE(Status("a-1", "a").empty());
  cluster.StopServing(controllers::AppliedResource());
  scheduler.RunFor(2min);
  cluster.Serve(controllers::AppliedResource(), "AppliedClusterQuota");
  scheduler.RunFor(2min);
  CHECK_FALSE(Status("a-1", "a").empty());
}

}  // namespace applied_controller_test
