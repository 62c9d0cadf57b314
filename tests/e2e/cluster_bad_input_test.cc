// Mistakes in ClusterQuotas and in their statuses: a condition or a refusal reports each, and none
// affects another quota.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"

namespace e2e::cluster_bad_input_test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

// A daemon that enforces ClusterQuotas, except in the namespace `exempt`.
struct Enforced {
  explicit Enforced(const std::string& exempt = "kube-system")
      : admission({.server = Managed(),
                   .more_flags = {"--enforce=cluster", "--exempt-namespaces=" + exempt}}),
        quotas(admission.api()) {}

  Api& api() { return admission.api(); }
  void Patch(const std::string& quota, const std::string& patch) {
    api().MergePatch(ClusterQuotas::Path(quota), Json(patch));
  }
  void EditStatus(const std::string& quota, const std::string& members) {
    api().MergePatch(ClusterQuotas::Path(quota) + "/status", Json(R"({"status":)" + members + "}"));
  }

  Admission admission;
  ClusterQuotas quotas;
};

std::string OnePod(const std::string& more = "") { return R"("hard":{"pods":"1"})" + more; }

// Checks that one pod is admitted and a second one is refused.
void CheckHoldsOne(TeamNamespace& ns, const std::string& quota) {
  const Attempt first = ns.Try("first");
  INFO(first.Text());
  CHECK(first.ok());
  const Attempt second = ns.Try("second");
  CHECK(second.code == 403);
  CHECK_THAT(second.message,
             EndsWith("pods \"second\" is forbidden: exceeded cluster quota: " + quota +
                      ", requested: pods=1, used: pods=1, limited: pods=1"));
}

// Waits until a pod would be refused with a message that ends so. The API server may show a status
// that the daemon has just written, and call its webhook, before the daemon reads the answer.
void WaitRefusal(TeamNamespace& ns, const std::string& pod, const std::string& end) {
  Eventually("pod " + pod + " is refused: " + end, [&]() -> std::string {
    const Attempt attempt = ns.Try(pod, true);
    return !attempt.ok() && attempt.message.ends_with(end) ? "" : attempt.Text();
  });
}

// Creates quotas "<team>-<number>" of one pod over the namespaces of a team.
void CreateMany(Enforced& e, const std::string& team, int count) {
  std::vector<client::ApiRequest> creations;
  const json::Value spec = Json(SelectTeam(team, OnePod()));
  for (int i = 0; i < count; ++i) {
    const std::string name = team + "-" + std::to_string(i);
    creations.push_back(PostOf(ClusterQuotas::Path(), ClusterQuotas::Quota(name, spec)));
  }
  for (const auto& answer : e.api().DoAll(std::move(creations), 16)) REQUIRE(answer.has_value());
}

void WaitAllUse(Enforced& e, const std::string& team, int count, const std::string& pods) {
  Eventually(
      "all quotas of " + team + " use " + pods,
      [&]() -> std::string {
        const json::Value list = e.api().Get(ClusterQuotas::Path());
        int right = 0;
        for (const json::Value& quota : *list.At({"items"})->AsArray()) {
          if (!quota.StringAt({"metadata", "name"}).starts_with(team + "-")) continue;
          if (quota.StringAt({"status", "used", "pods"}) == pods) ++right;
        }
        return right == count ? "" : std::to_string(count - right) + " do not";
      },
      Stretched(120s));
}

}  // namespace

TEST_CASE("cluster: a quota in a cycle or without its parent enforces its own limit",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string a = FreshName("a");
  const std::string b = FreshName("b");
  const std::string c = FreshName("c");
  TeamNamespace in_a(e.api(), a);
  TeamNamespace in_b(e.api(), b);
  TeamNamespace in_c(e.api(), c);
  const std::string above = a + "-above";
  e.quotas.Create(a, SelectTeam(a, OnePod(R"(,"parent":")" + above + R"(")")));
  e.quotas.Create(above, R"({"hard":{"pods":"9"},"parent":")" + a + R"("})");
  e.quotas.Create(b, SelectTeam(b, OnePod(R"(,"parent":"nobody")")));
  e.quotas.Create(c, SelectTeam(c, OnePod()));
  for (const std::string& quota : {a, b, c}) e.quotas.WaitUsed(quota, {{"pods", "0"}});
  CheckHoldsOne(in_a, a);
  CheckHoldsOne(in_b, b);
  CheckHoldsOne(in_c, c);
  e.quotas.WaitCondition(
      a, "Ready", "False ParentCycle: its parents lead back to it: " + a + ", " + above + ", " + a);
  e.quotas.WaitCondition(above, "Ready", "False ParentCycle");
  e.quotas.WaitCondition(b, "Ready", "False ParentNotFound: there is no ClusterQuota nobody");
  e.quotas.WaitCondition(c, "Ready", "True Counted");
  // Break the cycle, and create the missing parent.
  e.Patch(above, R"({"spec":{"parent":null}})");
  e.quotas.Create("nobody", R"({"hard":{"pods":"0"}})");
  e.quotas.WaitCondition(a, "Ready", "True Counted");
  e.quotas.WaitCondition(b, "Ready", "True Counted");
  e.quotas.WaitUsed(above, {{"pods", "1"}});
  e.quotas.WaitUsed("nobody", {{"pods", "1"}});
  e.Patch(b, R"({"spec":{"hard":{"pods":"5"}}})");
  e.quotas.WaitUsed(b, {{"pods", "1"}});
  const std::string refusal = "exceeded cluster quota: nobody (above " + b +
                              "), requested: pods=1, used: pods=1, limited: pods=0";
  WaitRefusal(in_b, "third", refusal);
  CHECK_THAT(in_b.Try("third").message, EndsWith(refusal));
}

TEST_CASE("cluster: a condition names the exempt namespaces that a quota selects",
          "[e2e][cluster][admission]") {
  const std::string exempt = FreshName("exempt");
  Enforced e(exempt);
  const std::string a = FreshName("a");
  TeamNamespace in_a(e.api(), a);
  TeamNamespace apart(e.api(), "", exempt);
  const std::string all = FreshName("all");
  e.quotas.Create(all, R"({"namespaceSelector":{},"hard":{"count/configmaps":"100000"}})");
  e.quotas.Create(a, SelectTeam(a, OnePod()));
  e.quotas.WaitUsed(a, {{"pods", "0"}});
  e.quotas.WaitCondition(all, "Exempt",
                         "True SelectsExemptNamespaces: what is in 1 of its namespaces counts, and "
                         "nothing is refused there: " +
                             exempt);
  e.quotas.WaitCondition(a, "Exempt", "False NoneSelected");
  CheckHoldsOne(in_a, a);
  apart.Relabel(a);
  e.quotas.WaitCondition(a, "Exempt", "True SelectsExemptNamespaces");
  CHECK(apart.Try("one").ok());
  e.quotas.WaitUsed(a, {{"pods", "2"}});
  e.quotas.WaitCondition(a, "OverLimit", "True LimitBelowUsage");
  CHECK(in_a.Try("third").code == 403);
  apart.Relabel("");
  e.quotas.WaitCondition(a, "Exempt", "False NoneSelected");
  e.quotas.WaitCondition(a, "OverLimit", "False WithinLimits");
}

TEST_CASE("cluster: the name of a kind that is not served does not affect other names",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string a = FreshName("a");
  TeamNamespace in_a(e.api(), a);
  e.quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"1","count/gadgets.nowhere.example":"5"})"));
  Eventually("pods are counted and limited", [&]() -> std::string {
    const json::Value quota = e.quotas.Get(a);
    return quota.StringAt({"status", "used", "pods"}) == "0" ? "" : json::Write(quota);
  });
  CheckHoldsOne(in_a, a);
  e.quotas.WaitCondition(a, "Ready", "False KindNotServed: count/gadgets.nowhere.example is not");
  e.quotas.WaitCondition(a, "Stale", "True KindNotServed");
  in_a.Delete("first");
  Eventually("the deleted pod is released", [&]() -> std::string {
    const json::Value quota = e.quotas.Get(a);
    return quota.StringAt({"status", "used", "pods"}) == "0" ? "" : json::Write(quota);
  });
}

TEST_CASE("cluster: a limit lowered below the usage deletes nothing and refuses new pods",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string a = FreshName("a");
  TeamNamespace in_a(e.api(), a);
  e.quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"3"})"));
  e.quotas.WaitUsed(a, {{"pods", "0"}});
  CHECK(in_a.Try("one").ok());
  CHECK(in_a.Try("two").ok());
  e.Patch(a, R"({"spec":{"hard":{"pods":"1"}}})");
  e.quotas.WaitUsed(a, {{"pods", "2"}});
  e.quotas.WaitCondition(a, "OverLimit",
                         "True LimitBelowUsage: more is used than the limit allows, nothing more "
                         "can be created: pods");
  e.quotas.WaitCondition(a, "Ready", "True Counted");
  CHECK(in_a.CountPods() == 2);
  const std::string refusal = "pods \"three\" is forbidden: exceeded cluster quota: " + a +
                              ", requested: pods=1, used: pods=2, limited: pods=1";
  WaitRefusal(in_a, "three", refusal);
  CHECK_THAT(in_a.Try("three").message, EndsWith(refusal));
  in_a.Delete("one");
  in_a.Delete("two");
  e.quotas.WaitCondition(a, "OverLimit", "False WithinLimits");
  e.quotas.WaitUsed(a, {{"pods", "0"}});
  CheckHoldsOne(in_a, a);
}

TEST_CASE("cluster: an edited status is restored and admits nothing more",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string a = FreshName("a");
  TeamNamespace in_a(e.api(), a);
  e.quotas.Create(a, SelectTeam(a, OnePod()));
  e.quotas.WaitUsed(a, {{"pods", "0"}});
  CheckHoldsOne(in_a, a);
  e.quotas.WaitStatus(a, Json(R"({"available":{"pods":"0"},"namespaces":1})"));
  const auto refuses = [&](const char* edit) {
    INFO(edit);
    e.EditStatus(a, edit);
    CHECK(in_a.Try("more").code == 403);
    e.quotas.WaitUsed(a, {{"pods", "1"}});
    CHECK(in_a.Try("more").code == 403);
  };
  refuses(R"({"used":{"pods":"0"}})");
  refuses(R"({"reservations":"nonsense"})");
  refuses(R"({"reservations":"[{\"by\":\"x\",\"n\":1,\"usage\":{\"pods\":\"-5\"}}]"})");
  refuses(R"({"used":null})");
  refuses(R"({"available":{"pods":"400"},"namespaces":70,"children":3,"largest":null,
              "observedGeneration":99})");
  e.EditStatus(a, R"({"conditions":[
      {"type":"Ready","status":"False","reason":"No","lastTransitionTime":"2020-01-01T00:00:00Z"},
      {"type":"Mine","status":"Unknown","lastTransitionTime":"2020-01-01T00:00:00Z"}]})");
  e.quotas.WaitCondition(a, "Ready", "True Counted");
  CHECK(e.quotas.Condition(a, "Mine") == "Unknown : ");
  e.quotas.WaitCondition(a, "OverLimit", "False WithinLimits");
  e.quotas.WaitStatus(a, Json(R"({"available":{"pods":"0"},"namespaces":1,"children":0,
                                  "observedGeneration":1})"));
}

TEST_CASE("cluster: a quota that is deleted under load no longer limits anything",
          "[e2e][cluster][admission][load]") {
  Enforced e;
  const std::string a = FreshName("a");
  const std::string above = a + "-above";
  TeamNamespace in_a(e.api(), a);
  e.quotas.Create(above, R"({"hard":{"pods":"60"}})");
  e.quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"50"},"parent":")" + above + R"(")"));
  e.quotas.WaitUsed(above, {{"pods", "0"}});
  e.quotas.WaitUsed(a, {{"pods", "0"}});
  std::vector<client::ApiRequest> requests;
  for (int i = 0; i < 90; ++i) {
    requests.push_back(PostOf(in_a.Pods(), Pod("p" + std::to_string(i))));
    if (i == 20) requests.push_back({.verb = "DELETE", .path = ClusterQuotas::Path(a)});
    if (i == 40) requests.push_back({.verb = "DELETE", .path = ClusterQuotas::Path(above)});
  }
  for (const auto& answer : e.api().DoAll(std::move(requests), 16)) {
    const Attempt attempt = ToAttempt(answer);
    INFO(attempt.Text());
    CHECK((attempt.ok() || attempt.message.find("exceeded cluster quota") != std::string::npos));
  }
  Eventually("the deleted quotas refuse nothing", [&]() -> std::string {
    const Attempt attempt = in_a.Try("last");
    return attempt.ok() ? "" : attempt.Text();
  });
  // A new quota of the same name counts from the start and enforces its own limit.
  e.quotas.Create(a, SelectTeam(a, OnePod()));
  e.quotas.WaitUsed(a, {{"pods", std::to_string(in_a.CountPods())}});
  CHECK(in_a.Try("more").code == 403);
}

TEST_CASE("cluster: a thousand quotas over one namespace do not block other namespaces",
          "[e2e][cluster][admission][load]") {
  constexpr int kMany = 1'000;
  // A sanitized daemon needs many times as long for a write.
  const int some = IsSanitized(BuiltProgram("quota-controller-manager")) ? 20 : 100;
  Enforced e;
  const std::string a = FreshName("a");
  const std::string b = FreshName("b");
  const std::string c = FreshName("c");
  TeamNamespace in_a(e.api(), a);
  TeamNamespace in_b(e.api(), b);
  TeamNamespace in_c(e.api(), c);
  CreateMany(e, a, kMany);
  e.quotas.Create(b, SelectTeam(b, OnePod()));
  CreateMany(e, c, some);
  WaitAllUse(e, a, kMany, "0");
  WaitAllUse(e, c, some, "0");
  // Reviews of other namespaces are answered beside the thousand quotas.
  CheckHoldsOne(in_b, b);
  const Attempt in_some = in_c.Try("first");
  INFO(in_some.Text());
  CHECK(in_some.ok());
  WaitAllUse(e, c, some, "1");
  // This one needs a thousand writes in the time of a review. A busy machine may not manage that.
  // Then all of them are taken back.
  const Attempt in_many = in_a.Try("first");
  INFO(in_many.Text());
  if (!in_many.ok()) CHECK_THAT(in_many.message, Contains("failed calling webhook"));
  CHECK(in_a.CountPods() == (in_many.ok() ? 1 : 0));
  WaitAllUse(e, a, kMany, in_many.ok() ? "1" : "0");
  for (TeamNamespace* full : {&in_b, &in_c}) {
    const Attempt second = full->Try("second");
    CHECK(second.code == 403);
    CHECK_THAT(second.message, Contains("exceeded cluster quota: "));
  }
  CHECK(e.admission.daemon().Running());
}

}  // namespace e2e::cluster_bad_input_test
