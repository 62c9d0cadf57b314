// ClusterQuotas: the namespaces that they reach, their usage there, and their parents.

#include "tests/controllers/quota/cluster_quotas_fixture.h"

namespace cluster_quotas_test {

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

}  // namespace cluster_quotas_test
