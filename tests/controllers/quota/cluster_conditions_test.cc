// ClusterQuotas: when they are ready, what guards their names, and what is said if nothing does.

#include "tests/controllers/quota/cluster_quotas_fixture.h"

namespace cluster_quotas_test {

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
  CHECK(WritesOf("b") >= 2);
  CHECK(WritesOf("b") <= 4);
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

}  // namespace cluster_quotas_test
