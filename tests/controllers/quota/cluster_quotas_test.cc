// ClusterQuotas: the namespaces that they reach, their usage there, and their status.

#include <catch2/catch.hpp>

#include "controllers/quota/cluster/cluster_status.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/cluster_fixture.h"

namespace cluster_quotas_test {
namespace {

using namespace std::chrono_literals;
using fixture::kClusterQuotas;
using fixture::kNamespaces;
using fixture::kPods;
using fixture::MakePod;

// The longest pause of a reflector between two attempts is a minute. After it, usage that no object
// explains may be a stranger's charge, and is held for 15 s.
constexpr std::chrono::seconds kReconnects{80};

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
  std::optional<controllers::ServedResources> served;
  controllers::SharedResources shared;
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
  CHECK(UsedPods("b") == "2");
  CHECK(UsedPods("a") == "2");  // for a second both must have room
  scheduler.RunFor(1s);
  CHECK(UsedPods("a") == "1");
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
  scheduler.RunFor(1100ms);
  CHECK(UsedPods("a") == "1");
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: changes of labels and selectors that are shown in another order "
                 "lower nothing",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutPod("one", "a-1");
  json::Object child = kFivePods;
  child.Set("parent", "company");
  PutQuota("company", kFivePods);
  PutQuota("a", child, "a");
  PutQuota("b", child, "b");
  Start();
  REQUIRE(UsedPods("company") == "1");
  // The namespace moves to b, then a selects others. The second change is shown first.
  PutQuota("a", child, "c");
  scheduler.RunFor(500ms);
  CHECK(UsedPods("company") == "1");
  PutNamespace("a-1", "b");
  scheduler.RunFor(100ms);
  CHECK(UsedPods("b") == "1");
  scheduler.RunFor(2s);
  CHECK(UsedPods("company") == "1");
  CHECK(UsedPods("a") == "0");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: usage stays while namespaces cannot be listed",
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
  CHECK(Condition("a", "Stale") == "True ListFailed");
  CHECK(Condition("a", "Ready") == "False ListFailed");
  CHECK_FALSE(controller->reach().Known("a-1"));
  cluster.Delete(kPods, "a-1", "two");
  cluster.fault = nullptr;
  scheduler.RunFor(kReconnects);
  CHECK(UsedPods("a") == "1");
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(controller->reach().Known("a-1"));
  SECTION("a failing watch lowers no usage") {
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
    scheduler.RunFor(kReconnects);
    CHECK(UsedPods("a") == "1");
  }
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: the usage of a child counts in its parent",
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

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: each child of a parent that goes has an event",
                 "[controllers]") {
  json::Object below = kFivePods;
  below.Set("parent", "company");
  PutQuota("company", kFivePods);
  PutQuota("a", below, "a");
  PutQuota("b", below, "b");
  PutQuota("other", kFivePods, "c");
  Start();
  scheduler.RunFor(1min);
  REQUIRE(events.Texts().empty());
  cluster.Delete(kClusterQuotas, "", "company");
  scheduler.RunFor(4s);
  CHECK(Condition("a", "Ready") == "False ParentNotFound");
  CHECK(events.Texts().empty());
  scheduler.RunFor(2s);
  const std::string why =
      "there is no ClusterQuota company; until there is one, only its own limits hold";
  std::vector<std::string> expected{"ParentNotFound a: " + why, "ParentNotFound b: " + why};
  CHECK(events.Texts() == expected);
  CHECK(events.said.front().type == client::EventType::kWarning);
  scheduler.RunFor(30min);
  CHECK(events.Texts() == expected);
  PutQuota("company", kFivePods);
  scheduler.RunFor(1s);
  expected.emplace_back("QuotaHealed a: the quota has its place in the tree again");
  expected.emplace_back("QuotaHealed b: the quota has its place in the tree again");
  CHECK(events.Texts() == expected);
  CHECK(controller->conditions().size() == 0);
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: a cycle and a guarantee that cannot be kept have events",
                 "[controllers]") {
  const auto put = [&](const std::string& name, const std::string& parent, int guaranteed) {
    json::Object spec = kFivePods;
    spec.Set("parent", parent);
    if (guaranteed > 0) spec.Set("guaranteed", json::Object{{"pods", guaranteed}});
    PutQuota(name, spec);
  };
  PutQuota("company", kFivePods);
  put("a", "company", 3);
  put("b", "company", 0);
  put("d", "e", 0);
  put("e", "d", 0);
  Start();
  scheduler.RunFor(10s);
  const std::string until = "; until then only its own limits hold";
  CHECK(events.Texts() ==
        std::vector<std::string>{"ParentCycle d: its parents lead back to it: d, e, d" + until,
                                 "ParentCycle e: its parents lead back to it: e, d, e" + until});
  events.said.clear();
  put("b", "company", 3);
  scheduler.RunFor(10s);
  const std::string why = ": guaranteed in company to all quotas below it: pods=6, limited: pods=5";
  CHECK(events.Texts() == std::vector<std::string>{"GuaranteedExceedsParent a" + why,
                                                   "GuaranteedExceedsParent b" + why});
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: a thousand children have one event each, once there is room",
                 "[controllers]") {
  json::Object below = kFivePods;
  below.Set("parent", "company");
  for (int i = 0; i < 1000; ++i) PutQuota("child-" + std::to_string(i), below);
  events.full = true;
  Start();
  scheduler.RunFor(1min);
  CHECK(Condition("child-999", "Ready") == "False ParentNotFound");
  events.full = false;
  scheduler.RunFor(1min);
  CHECK(events.said.size() == 1000);
  scheduler.RunFor(30min);
  CHECK(events.said.size() == 1000);
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a quota is not ready while nothing is enforced",
                 "[controllers]") {
  guarded = true;
  PutNamespace("a-1", "a");
  PutQuota("a", kFivePods, "a");
  PutQuota("orphan", json::Object{{"parent", "nobody"}});
  Start();
  scheduler.RunFor(10s);
  REQUIRE(Condition("a", "Ready") == "True Counted");
  REQUIRE(Condition("orphan", "Ready") == "False ParentNotFound");
  events.said.clear();
  unenforced = controllers::Unenforced{.why = "the glass is broken", .decided = true};
  scheduler.RunFor(1s);
  for (const char* name : {"a", "orphan"}) {
    CHECK(Condition(name, "Ready") == "False NotEnforced");
    CHECK(Message(name, "Ready") == "nothing is refused: the glass is broken");
  }
  scheduler.RunFor(5s);
  CHECK(events.Texts() ==
        std::vector<std::string>{"NotEnforced a: nothing is refused: the glass is broken",
                                 "NotEnforced orphan: nothing is refused: the glass is broken"});
  PutQuota("new", kFivePods, "b");
  scheduler.RunFor(1s);
  CHECK(Condition("new", "Ready") == "False NotEnforced");
  SECTION("a new process keeps what it does not know yet") {
    unenforced.reset();
    Stop();
    Start();
    scheduler.RunFor(1min);
    CHECK(Condition("a", "Ready") == "False NotEnforced");
    unenforced = controllers::Unenforced{.why = "the glass is broken", .decided = true};
    scheduler.RunFor(1min);
    CHECK(Condition("a", "Ready") == "False NotEnforced");
  }
  unenforced = controllers::Unenforced{};
  events.said.clear();
  scheduler.RunFor(10s);
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Condition("new", "Ready") == "True SelectsNothing");
  CHECK(Condition("orphan", "Ready") == "False ParentNotFound");
  std::vector<std::string> texts = events.Texts();
  std::ranges::sort(texts);
  CHECK(texts == std::vector<std::string>{
                     "ParentNotFound orphan: there is no ClusterQuota nobody; until there is one, "
                     "only its own limits hold",
                     "QuotaHealed a: the quota is enforced again",
                     "QuotaHealed new: the quota is enforced again"});
  CHECK(controller->conditions().size() == 1);
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: rules that are missing for long make the quotas not ready that "
                 "need them",
                 "[controllers]") {
  cluster.Serve(fixture::kSecrets, "Secret");
  guarded = true;
  PutNamespace("a-1", "a");
  PutQuota("pods", kFivePods, "a");
  PutQuota("secrets", json::Object{{"hard", json::Object{{"secrets", "5"}}}}, "a");
  Start();
  for (int i = 0; i < 10; ++i) {  // each time they are stored again
    unenforced->resources = {{"", "pods"}};
    scheduler.RunFor(9s);
    CHECK(Condition("pods", "Ready") == "True Counted");
    unenforced->resources.clear();
    scheduler.RunFor(1s);
  }
  unenforced->resources = {{"", "pods"}};
  scheduler.RunFor(12s);
  CHECK(Condition("pods", "Ready") == "False NotEnforced");
  CHECK(Message("pods", "Ready") ==
        "the API server does not ask about pods: its webhook configuration lacks the rules");
  CHECK(Condition("secrets", "Ready") == "True Counted");
  unenforced = controllers::Unenforced{.why = "it is somebody else's"};
  scheduler.RunFor(12s);
  CHECK(Condition("secrets", "Ready") == "False NotEnforced");
  CHECK(Message("pods", "Ready") == "nothing is refused: it is somebody else's");
  unenforced = controllers::Unenforced{};
  scheduler.RunFor(1s);
  CHECK(Condition("pods", "Ready") == "True Counted");
  CHECK(Condition("secrets", "Ready") == "True Counted");
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: a thousand quotas learn one after the other that nothing is "
                 "enforced",
                 "[controllers]") {
  guarded = true;
  PutNamespace("a-1", "a");
  for (int i = 0; i < 1000; ++i) PutQuota("q-" + std::to_string(i), kFivePods, "a");
  Start();
  scheduler.RunFor(1min);
  cluster.writes.clear();
  const auto change = [&](const controllers::Unenforced& now_is, const std::string& condition) {
    unenforced = now_is;
    std::size_t most = 0;  // in a second, after the burst
    scheduler.RunFor(1s);
    CHECK(cluster.writes.size() >= 100);
    CHECK(cluster.writes.size() <= 120);
    std::size_t written = cluster.writes.size();
    controller->OnGuards();  // recounts all of them
    for (int second = 1; second < 50; ++second) {
      scheduler.RunFor(1s);
      most = std::max(most, cluster.writes.size() - std::exchange(written, cluster.writes.size()));
      if (second == 20) controller->OnLeading();
    }
    CHECK(most <= 20);
    scheduler.RunFor(1min);
    CHECK(cluster.writes.size() == 1000);
    CHECK(Condition("q-0", "Ready") == condition);
    CHECK(Condition("q-999", "Ready") == condition);
    cluster.writes.clear();
  };
  change({.why = "the glass is broken", .decided = true}, "False NotEnforced");
  CHECK(events.said.size() == 1000);
  change({}, "True Counted");
  CHECK(events.said.size() == 2000);
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a daemon that only counts promises no more",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutQuota("a", kFivePods, "a");
  Start();
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Message("a", "Ready") ==
        "everything that is limited is counted; this daemon enforces no ClusterQuotas");
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: changes that come only from other statuses are written seldom",
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

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: usage above the limit sets a condition",
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

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: an object counts as far as it can be read, and is reported",
                 "[controllers]") {
  cluster.Serve(fixture::kSecrets, "Secret");
  PutNamespace("a-1", "a");
  PutNamespace("a-2", "a");
  PutNamespace("b-1", "b");
  const json::Object spec{
      {"hard", json::Object{{"pods", "5"}, {"requests.cpu", "9"}, {"count/secrets", "5"}}}};
  PutQuota("a", spec, "a");
  PutQuota("b", spec, "b");
  PutPod("one", "a-1");
  Start();
  REQUIRE(Condition("a", "Ready") == "True Counted");
  cluster.Put(kPods, MakePod("odd", "lots", "a-2"));
  cluster.Put(fixture::kSecrets, fixture::MakeSecret("s", "a-2"));
  scheduler.RunFor(5s);
  CHECK(Condition("a", "Stale") == "True ObjectUnreadable");
  CHECK(Condition("a", "Ready") == "False ObjectUnreadable");
  CHECK(Message("a", "Stale")
            .starts_with("requests.cpu is counted only as far as objects can be read: namespace "
                         "a-2 has an object that cannot be counted: a-2/odd: "));
  CHECK(UsedPods("a") == "2");
  CHECK(Member("a", {"used", "requests.cpu"}) == "100m");
  // What other tenants do is counted as ever.
  PutPod("two", "a-1");
  cluster.Delete(kPods, "a-1", "one");
  PutPod("three", "a-1");
  scheduler.RunFor(5s);
  CHECK(Member("a", {"used", "requests.cpu"}) == "200m");
  CHECK(Member("a", {"used", "count/secrets"}) == "1");
  CHECK(Condition("b", "Ready") == "True Counted");
  cluster.Delete(kPods, "a-2", "odd");
  scheduler.RunFor(5s);
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Condition("a", "Stale") == "False Current");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a quota is ready when each name has a count",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutPod("one", "a-1");
  const std::string odd = "count/gadgets.nowhere.example";
  PutQuota("a", json::Object{{"hard", json::Object{{"pods", "5"}, {odd, "1"}}}}, "a");
  Start();
  scheduler.RunFor(15s);
  CHECK(UsedPods("a") == "1");
  CHECK(Member("a", {"used", odd}).empty());
  CHECK(Condition("a", "Ready") == "False NotCountedYet");
  CHECK(Message("a", "Ready") == "not yet counted, or not yet enforced: " + odd);
  CHECK(Condition("a", "Stale") == "False Current");
  scheduler.RunFor(30s);
  CHECK(Condition("a", "Ready") == "False KindNotServed");
  cluster.Serve({"nowhere.example", "v1", "gadgets"}, "Gadget");
  scheduler.RunFor(30s);
  CHECK(Member("a", {"used", odd}) == "0");
  CHECK(Condition("a", "Ready") == "True Counted");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a quota is ready when admission guards each name",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutQuota("a", kFivePods, "a");
  guarded = false;
  Start();
  scheduler.RunFor(15s);
  CHECK(Member("a", {"hard", "pods"}).empty());
  CHECK(Condition("a", "Ready") == "False NotCountedYet");
  guarded = true;
  controller->OnGuards();
  scheduler.RunFor(1s);
  CHECK(Member("a", {"hard", "pods"}) == "5");
  CHECK(UsedPods("a") == "0");
  CHECK(Condition("a", "Ready") == "True Counted");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: namespaces become exempt, and are no more",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("a-2", "a");
  PutQuota("a", kFivePods, "a");
  Start();
  CHECK(Condition("a", "Exempt") == "False NoneSelected");
  exempt->insert({"a-2", "elsewhere", "nowhere"});
  controller->OnExempt();
  scheduler.RunFor(15s);
  CHECK(Condition("a", "Exempt") == "True SelectsExemptNamespaces");
  CHECK_THAT(Message("a", "Exempt"),
             Catch::Contains("1 of its namespaces") && Catch::EndsWith(": a-2"));
  exempt->erase("a-2");
  controller->OnExempt();
  scheduler.RunFor(15s);
  CHECK(Condition("a", "Exempt") == "False NoneSelected");
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: a quota with another selector is ready when that is guarded",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  json::Value prod = json::Object{{"metadata", json::Object{{"name", "prod"}}}};
  prod.Make({"metadata", "labels", "env"}) = "prod";
  cluster.Put(kNamespaces, std::move(prod));
  PutQuota("a", kFivePods, "a");
  guarded = true;
  Start();
  CHECK(Condition("a", "Ready") == "True Counted");
  guarded = false;  // as a process that has just started: the rules are not known yet
  controller->OnGuards();
  scheduler.RunFor(15s);
  CHECK(Condition("a", "Ready") == "True Counted");
  json::Value quota = *cluster.Find(kClusterQuotas, "", "a");
  quota.Make({"spec", "namespaceSelector"}) =
      json::Object{{"matchLabels", json::Object{{"env", "prod"}}}};
  quota.Make({"metadata", "generation"}) = 2;
  cluster.Put(kClusterQuotas, quota);
  scheduler.RunFor(15s);
  CHECK(Condition("a", "Ready") == "False NotCountedYet");
  CHECK(Message("a", "Ready") == "not yet counted, or not yet enforced: pods");
  CHECK(Member("a", {"hard", "pods"}) == "5");  // its rules for other namespaces stay in force
  guarded = true;
  controller->OnGuards();
  scheduler.RunFor(1s);
  CHECK(Condition("a", "Ready") == "True Counted");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a resource is limited where quotas below select",
                 "[controllers]") {
  guarded = true;
  PutQuota("company", kFivePods);
  PutQuota("a", json::Object{{"parent", "company"}, {"hard", json::Object{{"secrets", "1"}}}}, "a");
  Start();
  const auto in = [&](const char* resource) {
    std::vector<std::string> places;
    for (const auto& [place, count] : controller->places()->In({"", resource})) {
      places.push_back(place.text);
    }
    return places;
  };
  using Texts = std::vector<std::string>;
  CHECK(in("pods") == Texts{"team"});
  CHECK(in("secrets") == Texts{"team"});
  CHECK(in("services").empty());
  json::Value child = *cluster.Find(kClusterQuotas, "", "a");
  child.Make({"spec", "parent"}) = "nobody";
  cluster.Put(kClusterQuotas, child);
  scheduler.RunFor(1s);
  CHECK(in("pods").empty());
  child.Make({"spec", "parent"}) = "company";
  child.Make({"spec", "namespaceSelector"}) = json::Object();
  cluster.Put(kClusterQuotas, child);
  scheduler.RunFor(1s);
  CHECK(in("pods") == Texts{""});  // all
  cluster.Delete(kClusterQuotas, "", "company");
  scheduler.RunFor(1s);
  CHECK(in("pods").empty());
  CHECK(in("secrets") == Texts{""});
  cluster.Delete(kClusterQuotas, "", "a");
  scheduler.RunFor(1s);
  CHECK(in("secrets").empty());
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: the namespaces with the most usage are listed",
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

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: selected exempt namespaces are reported",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("kube-system", "");
  PutNamespace("kube-public", "");
  PutQuota("a", kFivePods, "a");
  PutQuota("all", json::Object{{"hard", json::Object{{"pods", "1"}}},
                               {"namespaceSelector", json::Object{}}});
  PutPod("one", "kube-system");
  PutPod("two", "kube-system");
  Start();
  CHECK(UsedPods("all") == "2");
  CHECK(Condition("a", "Exempt") == "False NoneSelected");
  CHECK(Condition("all", "Exempt") == "True SelectsExemptNamespaces");
  CHECK(Message("all", "Exempt") ==
        "what is in 2 of its namespaces counts, and nothing is refused there: kube-public, "
        "kube-system");
  PutNamespace("kube-system", "a");
  scheduler.RunFor(1s);
  CHECK(Condition("a", "Exempt") == "True SelectsExemptNamespaces");
  PutNamespace("kube-system", "b");
  scheduler.RunFor(1s);
  CHECK(Condition("a", "Exempt") == "False NoneSelected");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: the missing part of a late guarantee is reported",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("b-1", "b");
  PutQuota("company", kFivePods);
  json::Object below = kFivePods;
  below.Set("parent", "company");
  PutQuota("a", below, "a");
  PutQuota("b", below, "b");
  for (int i = 0; i < 4; ++i) PutPod("pod-" + std::to_string(i), "a-1");
  Start();
  scheduler.RunFor(30s);
  REQUIRE(UsedPods("company") == "4");
  below.Set("guaranteed", json::Object{{"pods", "3"}});
  PutQuota("b", below, "b");
  scheduler.RunFor(1s);
  CHECK(Condition("b", "Ready") == "True Counted");  // perhaps only between two writes
  scheduler.RunFor(20s);
  CHECK(Condition("b", "Ready") == "False GuaranteedExceedsParent");
  CHECK(Message("b", "Ready") ==
        "others have taken in company what is guaranteed here, missing: pods=2");
  CHECK(Condition("a", "Ready") == "True Counted");
  cluster.Delete(kPods, "a-1", "pod-0");
  scheduler.RunFor(30s);
  CHECK(Condition("b", "Ready") == "False GuaranteedExceedsParent");
  CHECK(Message("b", "Ready") ==
        "others have taken in company what is guaranteed here, missing: pods=1");
  cluster.Delete(kPods, "a-1", "pod-1");
  scheduler.RunFor(30s);
  CHECK(Condition("b", "Ready") == "True Counted");
  cluster.writes.clear();
  scheduler.RunFor(60min);
  CHECK(cluster.writes.empty());
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a message that keeps changing is written seldom",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutNamespace("b-1", "b");
  json::Object spec{{"hard", json::Object{{"pods", "100"}}}};
  PutQuota("company", spec);
  spec.Set("parent", "company");
  PutQuota("a", spec, "a");
  spec.Set("guaranteed", json::Object{{"pods", "90"}});
  PutQuota("b", spec, "b");
  for (int i = 0; i < 30; ++i) PutPod("old-" + std::to_string(i), "a-1");
  Start();
  scheduler.RunFor(60s);
  REQUIRE(Condition("b", "Ready") == "False GuaranteedExceedsParent");
  cluster.writes.clear();
  for (int i = 0; i < 60; ++i) {  // each pod changes the missing amount
    PutPod("pod-" + std::to_string(i), "a-1");
    scheduler.RunFor(500ms);
  }
  const auto of_b = std::ranges::count_if(cluster.writes, [](const client::ApiRequest& request) {
    return request.path.find("/clusterquotas/b/") != std::string::npos;
  });
  CHECK(of_b >= 2);
  CHECK(of_b <= 4);
  scheduler.RunFor(30s);
  CHECK(Message("b", "Ready").ends_with("missing: pods=80"));
}

TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: the message of an exceeded limit depends on the mode",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutPod("one", "a-1");
  PutPod("two", "a-1");
  for (const char* mode : {"Deny", "Warn", "Audit"}) {
    PutQuota(mode, json::Object{{"hard", json::Object{{"pods", "1"}}}, {"enforcement", mode}}, "a");
  }
  Start();
  const std::string more = "more is used than the limit allows, ";
  CHECK(Message("Deny", "OverLimit") == more + "nothing more can be created: pods");
  CHECK(Message("Warn", "OverLimit") == more + "what exceeds it is admitted with a warning: pods");
  CHECK(Message("Audit", "OverLimit") ==
        more + "what exceeds it is admitted, and noted in the audit log: pods");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: an edited status is restored", "[controllers]") {
  PutNamespace("a-1", "a");
  PutPod("one", "a-1");
  PutQuota("a", kFivePods, "a");
  Start();
  scheduler.RunFor(60s);
  const json::Value right = *cluster.Find(kClusterQuotas, "", "a")->At({"status"});
  const auto is_right = [&](std::initializer_list<std::string_view> members) {
    return std::ranges::all_of(members, [&](std::string_view member) {
      return Member("a", {member}) == json::Write(*right.At({member}));
    });
  };
  Edit("a", "available", json::Object{{"pods", "400"}, {"secrets", "1"}});
  Edit("a", "namespaces", 7);
  Edit("a", "conditions",
       json::Array{json::Object{{"type", "Ready"}, {"status", "False"}, {"reason", "No"}}});
  scheduler.RunFor(30s);
  CHECK(is_right({"available", "namespaces", "used"}));
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Condition("a", "OverLimit") == "False WithinLimits");
  Edit("a", "used", json::Object{{"pods", "0"}});
  scheduler.RunFor(30s);
  CHECK(is_right({"used"}));
  Edit("a", "used", json::Object{{"pods", "5"}});
  scheduler.RunFor(60s);
  CHECK(is_right({"used"}));
  Edit("a", "reservations", "nonsense");
  Edit("a", "hard", json::Object{{"pods", "500"}});
  scheduler.RunFor(60s);
  CHECK(is_right({"used", "hard"}));
  // So many conditions that ours would not fit beside them.
  json::Array others;
  for (int i = 0; i < 16; ++i) {
    others.push_back(json::Object{{"type", "Other" + std::to_string(i)}, {"status", "True"}});
  }
  Edit("a", "conditions", others);
  scheduler.RunFor(30s);
  CHECK(cluster.Find(kClusterQuotas, "", "a")->At({"status", "conditions"})->AsArray()->size() ==
        16);
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Condition("a", "Other0") == "True ");
}

TEST_CASE_METHOD(ClusterFixture, "cluster quotas: a child that appears has no sibling recounted",
                 "[controllers]") {
  const auto child = [&](int number) {
    PutQuota("team-" + std::to_string(number), {{"hard", json::Object{{"pods", "5"}}},
                                                {"guaranteed", json::Object{{"pods", "1"}}},
                                                {"parent", "root"}});
  };
  const auto recounts = [&] {
    int all = 0;
    for (const auto& [result, times] : recorder.reconciles) all += times;
    return all;
  };
  constexpr int kChildren = 200;
  PutQuota("root", {{"hard", json::Object{{"pods", "1000"}}}});
  for (int i = 0; i < kChildren; ++i) child(i);
  Start();
  scheduler.RunFor(2min);
  REQUIRE(Member("root", {"children"}) == "200");
  const int before = recounts();
  child(kChildren);
  scheduler.RunFor(5s);
  CHECK(Member("root", {"children"}) == "201");
  CHECK(Member("team-200", {"available", "pods"}) == "5");
  CHECK(recounts() - before < 20);
}

// As kstatus of sigs.k8s.io/cli-utils reads them.
TEST_CASE_METHOD(ClusterFixture,
                 "cluster status: tools see what passes by itself and what does not",
                 "[controllers]") {
  guarded = false;
  PutNamespace("a-1", "a");
  PutQuota("a", kFivePods, "a");
  PutQuota("orphan", json::Object{{"parent", "nobody"}, {"hard", json::Object{{"pods", "1"}}}},
           "a");
  Start();
  CHECK(Condition("a", "Ready") == "False NotCountedYet");
  CHECK(Condition("a", "Reconciling") == "True NotCountedYet");
  CHECK(Condition("a", "Stalled") == "False NotCountedYet");
  CHECK(Condition("orphan", "Reconciling") == "False ParentNotFound");
  CHECK(Condition("orphan", "Stalled") == "True ParentNotFound");
  CHECK(Message("orphan", "Stalled") == Message("orphan", "Ready"));
  guarded = true;
  controller->OnGuards();
  scheduler.RunFor(1s);
  CHECK(Condition("a", "Ready") == "True Counted");
  CHECK(Condition("a", "Reconciling") == "False Ready");
  CHECK(Condition("a", "Stalled") == "False Ready");
  json::Value quota = *cluster.Find(kClusterQuotas, "", "a");
  quota.Make({"spec", "hard", "pods"}) = "7";
  quota.Make({"metadata", "generation"}) = 2;
  cluster.Put(kClusterQuotas, quota);
  scheduler.RunFor(1s);
  for (const char* type : {"Ready", "Stale", "OverLimit", "Exempt", "Reconciling", "Stalled"}) {
    INFO(type);
    const json::Value* condition = FindCondition("a", type);
    REQUIRE(condition != nullptr);
    CHECK(condition->At({"observedGeneration"})->AsInt64() == 2);
  }
}

TEST_CASE_METHOD(ClusterFixture, "cluster status: a quota says that it limits nothing, or nobody",
                 "[controllers]") {
  PutQuota("nothing", json::Object(), "a");
  PutQuota("nobody", kFivePods, "b");
  PutQuota("root", kFivePods);
  json::Object below = kFivePods;
  below.Set("parent", "root");
  PutQuota("leaf", below, "a");
  Start();
  CHECK(Condition("nothing", "Ready") == "True LimitsNothing");
  CHECK(Condition("nobody", "Ready") == "True SelectsNothing");
  CHECK(Condition("root", "Ready") == "True SelectsNothing");
  PutNamespace("a-1", "a");
  scheduler.RunFor(1s);
  CHECK(Condition("nothing", "Ready") == "True LimitsNothing");
  CHECK(Condition("root", "Ready") == "True Counted");
  CHECK(Condition("leaf", "Ready") == "True Counted");
}

TEST_CASE_METHOD(ClusterFixture, "cluster status: the summary follows used, and comes back",
                 "[controllers]") {
  PutNamespace("a-1", "a");
  PutQuota("a", json::Object{{"hard", json::Object{{"pods", "5"}, {"requests.cpu", "2"}}}}, "a");
  Start();
  CHECK(Member("a", {"summary"}) == "pods: 0/5, requests.cpu: 0/2");
  PutPod("p", "a-1");
  scheduler.RunFor(1s);
  CHECK(Member("a", {"summary"}) == "pods: 1/5, requests.cpu: 100m/2");
  Edit("a", "summary", "plenty");
  scheduler.RunFor(1s);
  CHECK(Member("a", {"summary"}) == "pods: 1/5, requests.cpu: 100m/2");
}

TEST_CASE("cluster status: the number of conditions stays within the CRD's limit",
          "[controllers]") {
  using controllers::WithConditions;
  json::Array many;
  for (int i = 0; i < 16; ++i) {
    many.push_back(json::Object{{"type", "T" + std::to_string(i)}, {"status", "True"}});
  }
  const json::Value stored = many;
  const auto all =
      WithConditions(&stored, {{"T3", true, "R", "m"}, {"Ready", true, "R", "m"}}, 1, "t");
  CHECK(all.size() == controllers::kMostConditions);
  CHECK(all[3].StringAt({"reason"}) == "R");
  CHECK(all.back().StringAt({"type"}) == "Ready");
  const json::Value again = all;
  CHECK(WithConditions(&again, {{"T3", true, "R", "m"}, {"Ready", true, "R", "m"}}, 1, "t2") ==
        all);
}

TEST_CASE("cluster status: an unchanged condition keeps its time", "[controllers]") {
  using controllers::WithConditions;
  const json::Value first = WithConditions(nullptr, {{"Ready", true, "Counted", "m"}}, 1, "t1");
  CHECK(WithConditions(&first, {{"Ready", true, "Counted", "m"}}, 1, "t2") == *first.AsArray());
  const json::Value said = WithConditions(&first, {{"Ready", true, "Counted", "other"}}, 1, "t2");
  CHECK((*said.AsArray())[0].StringAt({"lastTransitionTime"}) == "t1");
  const json::Value fell = WithConditions(&said, {{"Ready", false, "Stale", "m"}}, 1, "t3");
  CHECK((*fell.AsArray())[0].StringAt({"lastTransitionTime"}) == "t3");
  CHECK(WithConditions(&fell, {{"Stale", true, "Stale", "m"}}, 1, "t4").size() == 2);
}

// While reservations come and go, each recount computes other amounts. None of them is a reason to
// write: the next write of used has them, too.
TEST_CASE("cluster status: amounts beside used are no reason for a write", "[controllers]") {
  using controllers::ClusterStatus;
  quota::Quota quota;
  quota.status.hard = {{"pods", quota::Quantity::FromInt(5)}};
  quota.status.used = {{"pods", quota::Quantity::FromInt(2)}};
  quota.further_status = {{"summary", "pods: 2/5"},
                          {"available", json::Object{{"pods", "3"}}},
                          {"largest", json::Array{}},
                          {"namespaces", 1}};
  json::Object desired = quota.further_status;
  desired.Set("summary", "pods: 1/5");
  desired.Set("available", json::Object{{"pods", "4"}});
  desired.Set("largest", json::Array{"team-a"});
  CHECK_FALSE(ClusterStatus::IsUrgent(quota, desired));
  quota.further_status.Set("summary", "plenty");
  CHECK(ClusterStatus::IsUrgent(quota, desired));
  quota.further_status.Set("summary", "pods: 2/5");
  desired.Set("namespaces", 2);
  CHECK(ClusterStatus::IsUrgent(quota, desired));
}

}  // namespace cluster_quotas_test
