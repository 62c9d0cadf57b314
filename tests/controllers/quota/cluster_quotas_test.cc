// ClusterQuotas: which namespaces they reach, what they count there, and what their status says.

#include <catch2/catch.hpp>

#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace cluster_quotas_test {
namespace {

using namespace std::chrono_literals;
using fixture::kPods;
using fixture::MakePod;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kClusterQuotas{"quota-controller-manager.io", "v1alpha1",
                                               "clusterquotas"};

struct ClusterFixture {
  ClusterFixture() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kNamespaces, "Namespace", false);
    cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  }
  ~ClusterFixture() { Stop(); }
  ClusterFixture(const ClusterFixture&) = delete;
  ClusterFixture& operator=(const ClusterFixture&) = delete;

  void Start() {
    const controllers::TrackingContext context{.executor = io.get_executor(),
                                               .scheduler = &scheduler,
                                               .client = &cluster,
                                               .events = &events};
    served.emplace(cluster, scheduler);
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    controller =
        std::make_unique<controllers::QuotaController>(context, api, *served, recorder, options);
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

  void PutNamespace(const std::string& name, const std::string& team) {
    json::Value ns = json::Object{{"metadata", json::Object{{"name", name}}}};
    if (!team.empty()) ns.Make({"metadata", "labels"}) = json::Object{{"team", team}};
    const json::Value* old = cluster.Find(kNamespaces, "", name);
    if (old != nullptr) ns.Make({"metadata", "uid"}) = *old->At({"metadata", "uid"});
    cluster.Put(kNamespaces, std::move(ns));
  }
  void PutQuota(const std::string& name, json::Object spec, const std::string& team = "") {
    if (!team.empty()) {
      spec.Set("namespaceSelector", json::Object{{"matchLabels", json::Object{{"team", team}}}});
    }
    cluster.Put(kClusterQuotas,
                json::Object{{"metadata", json::Object{{"name", name}, {"generation", 1}}},
                             {"spec", std::move(spec)}});
  }
  void PutPod(const std::string& name, const std::string& ns) {
    cluster.Put(kPods, MakePod(name, "100m", ns));
  }
  // Of its status: "" if there is none.
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
  // "True Counted".
  [[nodiscard]] std::string Condition(const std::string& quota, std::string_view type) const {
    const json::Value* object = cluster.Find(kClusterQuotas, "", quota);
    const json::Value* all = object->At({"status", "conditions"});
    if (all == nullptr) return "";
    for (const json::Value& one : *all->AsArray()) {
      if (one.StringAt({"type"}) != type) continue;
      return std::string(one.StringAt({"status"})) + " " + std::string(one.StringAt({"reason"}));
    }
    return "";
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  quota::QuotaApi api = quota::ClusterQuotaApi();
  std::optional<controllers::ServedResources> served;
  fixture::Recorder recorder;
  fixture::EventList events;
  std::unique_ptr<controllers::QuotaController> controller;
  std::unique_ptr<base::TaskGroup> running;
};

const json::Object kFivePods{{"hard", json::Object{{"pods", "5"}}}};

}  // namespace

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: usage follows the labels of namespaces",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("a-2", "a");
  PutNamespace("b-1", "b");
  PutQuota("a", kFivePods, "a");
  PutQuota("b", kFivePods, "b");
  PutPod("one", "a-1");
  PutPod("two", "a-2");
  PutPod("three", "b-1");
  Start();
  CHECK(UsedPods("a") == "2");
  CHECK(UsedPods("b") == "1");
  CHECK(Member("a", {"namespaces"}) == "2");
  PutNamespace("a-2", "b");
  scheduler.RunFor(100ms);
  CHECK(UsedPods("a") == "1");
  CHECK(UsedPods("b") == "2");
  cluster.Delete(kPods, "a-2", "two");
  scheduler.RunFor(100ms);
  CHECK(UsedPods("b") == "1");
  PutNamespace("b-2", "b");
  PutPod("four", "b-2");
  scheduler.RunFor(100ms);
  CHECK(UsedPods("b") == "2");
  CHECK(Member("b", {"namespaces"}) == "3");
  PutQuota("a", kFivePods, "b");  // it selects others
  scheduler.RunFor(100ms);
  CHECK(UsedPods("a") == "2");
  PutNamespace("b-1", "");
  scheduler.RunFor(100ms);
  CHECK(UsedPods("a") == "1");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: no namespace known is not no namespace",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutPod("one", "a-1");
  PutPod("two", "a-1");
  PutQuota("a", kFivePods, "a");
  Start();
  REQUIRE(UsedPods("a") == "2");
  Stop();
  const auto of_namespaces = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/api/v1/namespaces") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  cluster.fault = of_namespaces;
  Start();
  scheduler.RunFor(60s);
  CHECK(UsedPods("a") == "2");
  CHECK(Condition("a", "Stale") == "True QuotaStale");
  CHECK(Condition("a", "Ready") == "False QuotaStale");
  CHECK_FALSE(controller->reach().Known("a-1"));
  cluster.Delete(kPods, "a-1", "two");
  cluster.fault = nullptr;
  scheduler.RunFor(60s);
  CHECK(UsedPods("a") == "1");
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(controller->reach().Known("a-1"));
  SECTION("a watch in trouble lowers nothing") {
    cluster.CutWatches(kNamespaces);
    cluster.fault = of_namespaces;
    scheduler.RunFor(10s);
    cluster.Delete(kPods, "a-1", "one");
    scheduler.RunFor(10s);
    CHECK(UsedPods("a") == "1");
    PutPod("three", "a-1");
    PutPod("four", "a-1");
    scheduler.RunFor(1s);
    CHECK(UsedPods("a") == "2");
    cluster.Delete(kPods, "a-1", "three");
    cluster.fault = nullptr;
    scheduler.RunFor(60s);
    CHECK(UsedPods("a") == "1");
  }
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: what is used below a quota is used there, too",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("b-1", "b");
  json::Object below = kFivePods;
  below.Set("parent", "company");
  PutQuota("a", below, "a");
  PutQuota("b", below, "b");
  PutPod("one", "a-1");
  Start();
  CHECK(Condition("a", "Ready") == "False ParentNotFound");
  PutQuota("company", json::Object{{"hard", json::Object{{"pods", "3"}}}});
  scheduler.RunFor(30s);
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(UsedPods("company") == "1");
  CHECK(Member("company", {"namespaces"}) == "2");
  CHECK(Member("company", {"children"}) == "2");
  CHECK(Member("a", {"available", "pods"}) == "2");
  CHECK(Member("b", {"available", "pods"}) == "2");
  PutPod("two", "b-1");
  scheduler.RunFor(30s);
  CHECK(UsedPods("company") == "2");
  CHECK(UsedPods("a") == "1");
  CHECK(Member("a", {"available", "pods"}) == "1");
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: what only other statuses change is written seldom",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("b-1", "b");
  json::Object below{{"hard", json::Object{{"pods", "100"}}}};
  PutQuota("company", below);
  below.Set("parent", "company");
  PutQuota("a", below, "a");
  PutQuota("b", below, "b");
  Start();
  scheduler.RunFor(60s);
  cluster.writes.clear();
  for (int i = 0; i < 60; ++i) {
    PutPod("pod-" + std::to_string(i), "a-1");
    scheduler.RunFor(500ms);
  }
  const auto of_b = std::ranges::count_if(cluster.writes, [](const client::ApiRequest& request) {
    return request.path.find("/clusterquotas/b/") != std::string::npos;
  });
  CHECK(of_b >= 2);
  CHECK(of_b <= 4);
  scheduler.RunFor(30s);
  CHECK(Member("b", {"available", "pods"}) == "40");
  cluster.writes.clear();
  scheduler.RunFor(60min);
  CHECK(cluster.writes.empty());
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a limit below what is used is a condition",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutQuota("a", json::Object{{"hard", json::Object{{"pods", "1"}}}}, "a");
  PutPod("one", "a-1");
  Start();
  CHECK(Condition("a", "OverLimit") == "False WithinLimits");
  CHECK(Member("a", {"observedGeneration"}) == "1");
  PutPod("two", "a-1");
  scheduler.RunFor(1s);
  CHECK(Condition("a", "OverLimit") == "True LimitBelowUsage");
  CHECK(Member("a", {"available", "pods"}) == "0");
  cluster.Delete(kPods, "a-1", "one");
  scheduler.RunFor(1s);
  CHECK(Condition("a", "OverLimit") == "False WithinLimits");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: the namespaces that use most are listed",
                 "[controllers]") {
  for (int i = 10; i < 40; ++i) {
    const std::string ns = "ns-" + std::to_string(i);
    PutNamespace(ns, i == 39 ? "b" : "a");
    for (int pod = 0; pod < (i == 20 ? 2 : 1); ++pod) PutPod("pod-" + std::to_string(pod), ns);
  }
  PutNamespace("empty", "a");
  PutQuota("a", json::Object{{"hard", json::Object{{"pods", "100"}, {"secrets", "1000"}}}}, "a");
  PutQuota("c", kFivePods, "c");
  Start();
  scheduler.RunFor(30s);
  const json::Value* largest = cluster.Find(kClusterQuotas, "", "a")->At({"status", "largest"});
  REQUIRE(largest != nullptr);
  REQUIRE(largest->AsArray()->size() == 20);
  CHECK(json::Write((*largest->AsArray())[0]) == R"({"namespace":"ns-20","used":{"pods":"2"}})");
  CHECK((*largest->AsArray())[1].StringAt({"namespace"}) == "ns-10");
  CHECK(Member("c", {"largest"}) == "[]");
}

TEST_CASE("cluster status: a condition that says the same keeps its time", "[controllers]") {
  using controllers::WithConditions;
  const json::Value first = WithConditions(nullptr, {{"Ready", true, "Counted", "m"}}, "t1");
  CHECK(WithConditions(&first, {{"Ready", true, "Counted", "m"}}, "t2") == *first.AsArray());
  const json::Value said = WithConditions(&first, {{"Ready", true, "Counted", "other"}}, "t2");
  CHECK((*said.AsArray())[0].StringAt({"lastTransitionTime"}) == "t1");
  const json::Value fell = WithConditions(&said, {{"Ready", false, "Stale", "m"}}, "t3");
  CHECK((*fell.AsArray())[0].StringAt({"lastTransitionTime"}) == "t3");
  CHECK(WithConditions(&fell, {{"Stale", true, "Stale", "m"}}, "t4").size() == 2);
}

}  // namespace cluster_quotas_test
