// ClusterQuotas: the further fields of their status, and when they are written.

#include "tests/controllers/quota/cluster_quotas_fixture.h"

namespace cluster_quotas_test {

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

// The status from before a restart says what is used, before the objects are listed again.
TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: the namespaces with the most usage stay until all is listed",
                 "[controllers]") {
  const std::string path = GENERATE("/api/v1/pods", "/api/v1/namespaces");
  const base::Duration away = GENERATE(0s, 90s);
  CAPTURE(path, away.count());
  PutNamespace("one", "a");
  PutNamespace("two", "a");
  PutPod("pod-0", "one");
  PutPod("pod-1", "one");
  PutPod("pod-0", "two");
  PutQuota("a", kFivePods, "a");
  Start();
  scheduler.RunFor(60s);
  const std::string largest = Member("a", {"largest"});
  REQUIRE(largest ==
          R"([{"namespace":"one","used":{"pods":"2"}},{"namespace":"two","used":{"pods":"1"}}])");
  Stop();
  // What happened meanwhile did not change what is used.
  const json::Array before{
      json::Object{{"namespace", "gone"}, {"used", json::Object{{"pods", "3"}}}}};
  Edit("a", "largest", before);
  const base::TimePoint back = scheduler.Now() + away;
  cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != path || scheduler.Now() >= back) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
  };
  cluster.stall = [&](const client::ApiRequest& request) {
    return request.path == path ? base::Duration(5s) : base::Duration();
  };
  Start();
  scheduler.RunFor(3s);
  CHECK(Member("a", {"largest"}) == json::Write(before));
  scheduler.RunFor(away + kReconnects);
  CHECK(Member("a", {"largest"}) == largest);
  cluster.ForgetFunctions();
}

// Before the first count there is no usage to compare either.
TEST_CASE_METHOD(ClusterFixture,
                 "cluster quotas: the namespaces of a new quota are not empty while objects are "
                 "listed",
                 "[controllers]") {
  PutNamespace("one", "a");
  PutPod("pod", "one");
  PutQuota("a", kFivePods, "a");
  cluster.stall = [](const client::ApiRequest& request) {
    return request.path == "/api/v1/pods" ? base::Duration(5s) : base::Duration();
  };
  Start();
  bool was_empty = false;
  for (int i = 0; i < 100; ++i) {
    was_empty = was_empty || Member("a", {"largest"}) == "[]";
    scheduler.RunFor(200ms);
  }
  CHECK_FALSE(was_empty);
  CHECK(Member("a", {"largest"}) == R"([{"namespace":"one","used":{"pods":"1"}}])");
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

// "a" has taken 20 of the pods that are guaranteed to "b".
struct LateGuarantee : ClusterFixture {
  void StartWithMissingGuarantee() {
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
  }
};

TEST_CASE_METHOD(LateGuarantee, "cluster quotas: a message that keeps changing is written seldom",
                 "[controllers]") {
  StartWithMissingGuarantee();
  REQUIRE(Condition("b", "Ready") == "False GuaranteedExceedsParent");
  cluster.writes.clear();
  for (int i = 0; i < 60; ++i) {  // each pod changes the missing amount
    PutPod("pod-" + std::to_string(i), "a-1");
    scheduler.RunFor(500ms);
  }
  CHECK(WritesOf("b") >= 2);
  CHECK(WritesOf("b") <= 4);
  scheduler.RunFor(30s);
  CHECK(Message("b", "Ready").ends_with("missing: pods=80"));
}

TEST_CASE_METHOD(LateGuarantee, "cluster quotas: a message that was not written is written soon",
                 "[controllers]") {
  const auto code = GENERATE(base::ErrorCode::kConflict, base::ErrorCode::kUnavailable);
  StartWithMissingGuarantee();
  REQUIRE(Message("b", "Ready").ends_with("missing: pods=20"));
  int failures = 0;
  cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool fails =
        request.verb == "PATCH" && request.path.ends_with("/b/status") && ++failures == 1;
    if (!fails) return std::nullopt;
    return base::Error{
        .code = code, .message = "", .http_status = code == base::ErrorCode::kConflict ? 409 : 503};
  };
  PutPod("new", "a-1");
  for (int i = 0; i < 300 && failures == 0; ++i) scheduler.RunFor(100ms);
  REQUIRE(failures == 1);
  scheduler.RunFor(2s);
  CHECK(failures == 2);
  CHECK(Message("b", "Ready").ends_with("missing: pods=21"));
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
