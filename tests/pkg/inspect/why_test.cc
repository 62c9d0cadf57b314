#include "pkg/inspect/why.h"

#include <catch2/catch.hpp>

#include "pkg/inspect/pod_plan.h"

namespace why_test {

using inspect::Demand;
using inspect::FitBook;
using inspect::Holder;
using inspect::WhyAnswer;

quota::Quota QuotaWith(const std::string& name, const std::string& hard, const std::string& used) {
  return *quota::ParseQuota(
      *json::Parse(R"({"metadata": {"name": ")" + name + R"(", "namespace": "a", "uid": "1",
          "resourceVersion": "1"}, "spec": {"hard": )" +
                   hard + R"(}, "status": {"hard": )" + hard + R"(, "used": )" + used + "}}"));
}

quota::Quantity Amount(const char* text) { return *quota::Quantity::Parse(text); }

WhyAnswer Web(std::int64_t wants, std::int64_t has) {
  static const FitBook fit(
      {QuotaWith("compute", R"({"requests.cpu": "4", "requests.memory": "16Gi"})",
                 R"({"requests.cpu": "4", "requests.memory": "3Gi"})"),
       QuotaWith("objects", R"({"pods": "7"})", R"({"pods": "6"})")});
  const Demand demand{.of = {{{"requests.cpu", Amount("500m")}, {"requests.memory", Amount("1Gi")}},
                             {{"pods", Amount("1")}}},
                      .objections = {}};
  return inspect::Explain({"deployment", "apps", "web"}, wants, has, fit, demand);
}

Holder Group(const char* title, const char* amount) {
  return {.title = title, .below = {}, .amount = Amount(amount), .objects = 1};
}

TEST_CASE(
    "why: it names the refusing quota, the lacking amount, the last refusal and what makes room",
    "[inspect]") {
  const base::WallTime now{std::chrono::hours(24)};
  WhyAnswer answer = Web(5, 3);
  CHECK(answer.Refused());
  answer.refusal = inspect::Refusal{.message = "pods \"web-x\" is forbidden: exceeded quota",
                                    .last = now - std::chrono::seconds(12),
                                    .times = 7};
  answer.room = inspect::RoomFor(
      answer, {{"compute",
                "requests.cpu",
                {Group("job.batch/import", "2"), Group("deployment.apps/web", "1500m"),
                 Group("pod/small", "250m")}},
               {"objects", "pods", {Group("job.batch/import", "1"), Group("pod/small", "1")}}});
  CHECK(
      inspect::WhyText(answer, now) ==
      "deployment.apps/web wants 5 pods and has 3: each needs pods=1 requests.cpu=500m "
      "requests.memory=1Gi\n"
      "  quota compute   requests.cpu 4/4, 0 free, lacks 500m for the next, 1 for all   ← refuses\n"
      "  quota compute   requests.memory 3Gi/16Gi, fits\n"
      "  quota objects   pods 6/7, 1 free, lacks 1 for all\n"
      "last refused 12 s ago (7 times): pods \"web-x\" is forbidden: exceeded quota\n"
      "room: raise requests.cpu of quota compute to 5 and pods of quota objects to 8, or delete "
      "job.batch/import (requests.cpu=2)\n");
}

TEST_CASE("why: a workload with all its pods has no refusal, but another pod would", "[inspect]") {
  const std::string verdict =
      "it has what it wants, so nothing is refused now; another pod would be refused\n";
  WhyAnswer answer = Web(3, 3);
  CHECK_FALSE(answer.Refused());
  CHECK(inspect::WhyText(answer, {}) ==
        "deployment.apps/web wants 3 pods and has 3: each needs pods=1 requests.cpu=500m "
        "requests.memory=1Gi\n"
        "  quota compute   requests.cpu 4/4, 0 free, lacks 500m   ← would refuse another\n"
        "  quota compute   requests.memory 3Gi/16Gi, fits\n"
        "  quota objects   pods 6/7, fits\n" +
            verdict);
  const FitBook limits({QuotaWith("limits", R"({"limits.cpu": "4"})", R"({"limits.cpu": "0"})")});
  CHECK(
      inspect::WhyText(
          inspect::Explain(
              {"job", "batch", "j"}, 1, 1, limits,
              {.of = {{}}, .objections = {"failed quota: limits: must specify limits.cpu for: c"}}),
          {}) ==
      "job.batch/j wants 1 pod and has 1: another would be refused\n"
      "  quota limits   must specify limits.cpu for: c   ← would refuse another\n" +
          verdict);
  SECTION("by the server, too") {
    answer.quotas.clear();
    answer.refusals = {"maximum cpu usage per Pod is 1, but limit is 2"};
    CHECK_THAT(inspect::WhyText(answer, {}),
               Catch::Matchers::Contains("  the server   maximum cpu usage per Pod is 1, but limit "
                                         "is 2   ← would refuse another\n" +
                                         verdict));
  }
  SECTION("if another one fits, too, there is nothing more to say") {
    answer.quotas.clear();
    CHECK_THAT(inspect::WhyText(answer, {}),
               Catch::Matchers::EndsWith("memory=1Gi\nit has what it wants\n"));
  }
}

TEST_CASE("why: a workload that has its pods contradicts no refusal", "[inspect]") {
  CHECK_THAT(json::Write(inspect::WhyValue(Web(3, 3))),
             Catch::Matchers::Contains(R"("refused":false)") &&
                 !Catch::Matchers::Contains(R"("refuses":true)"));
}

TEST_CASE("why: a rollout with a surge has only its new pods", "[inspect]") {
  const auto newest = [](const std::string& spec, const std::string& status) {
    return inspect::NewestPods(
        *json::Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
            {"generation": 2}, "spec": {"replicas": 4, )" +
                     spec + R"("template": {}}, "status": )" + status + "}"),
        4);
  };
  CHECK(newest("", R"({"observedGeneration": 2, "replicas": 4})") == 0);
  CHECK(newest("", R"({"observedGeneration": 1, "updatedReplicas": 3})") == 3);
  CHECK(newest("", R"({"observedGeneration": 2, "updatedReplicas": 5})") == 4);
  CHECK(newest("", R"({"observedGeneration": 1})") == 4);
  CHECK(newest(R"("paused": true, )", R"({"observedGeneration": 2})") == 4);
  CHECK(newest(R"("strategy": {"type": "Recreate"}, )", R"({"observedGeneration": 2})") == 4);
}

TEST_CASE("why: room is for the pods that a rollout creates at once", "[inspect]") {
  const FitBook fit({QuotaWith("objects", R"({"pods": "4"})", R"({"pods": "4"})")});
  const Demand demand{.of = {{{"pods", Amount("1")}}}, .objections = {}};
  WhyAnswer answer = inspect::Explain({"deployment", "apps", "web"}, 4, 0, fit, demand, 1);
  answer.earlier = 4;
  CHECK(answer.Refused());
  CHECK(inspect::RoomFor(answer, {}) == "raise pods of quota objects to 5");
  CHECK(inspect::WhyText(answer, {})
            .starts_with("deployment.apps/web wants 4 pods and has 0, beside 4 of an earlier "
                         "template: each needs"));
  CHECK_THAT(json::Write(inspect::WhyValue(answer)),
             Catch::Matchers::Contains(R"("has":0,"ofEarlierTemplate":4,"refused":true)"));
}

TEST_CASE("why: a missing requirement refuses the pod", "[inspect]") {
  const FitBook fit({QuotaWith("limits", R"({"limits.cpu": "4"})", R"({"limits.cpu": "0"})")});
  const WhyAnswer answer = inspect::Explain(
      {"job", "batch", "j"}, 1, 0, fit,
      {.of = {{}}, .objections = {"failed quota: limits: must specify limits.cpu for: c"}});
  CHECK(answer.Refused());
  CHECK(inspect::WhyText(answer, {}) ==
        "job.batch/j wants 1 pod and has 0: each is refused\n"
        "  quota limits   must specify limits.cpu for: c   ← refuses\n");
}

TEST_CASE("why: a refusal before the quota check is reported", "[inspect]") {
  WhyAnswer answer = Web(4, 3);
  answer.quotas.clear();
  answer.refusals = {"maximum cpu usage per Container is 1, but limit is 2"};
  CHECK(answer.Refused());
  CHECK_THAT(inspect::WhyText(answer, {}),
             Catch::Matchers::Contains("  the server   maximum cpu usage per Container is 1, but "
                                       "limit is 2   ← refuses\n"));
  CHECK_THAT(
      json::Write(inspect::WhyValue(answer)),
      Catch::Matchers::Contains(R"("refusals":["maximum cpu usage per Container is 1, but)"));
}

TEST_CASE("why: the workload itself, its claims and too small holders are not offered for deletion",
          "[inspect]") {
  const WhyAnswer answer = Web(5, 3);
  const std::string room =
      inspect::RoomFor(answer, {{"compute",
                                 "requests.cpu",
                                 {Group("deployment.apps/web", "2"), Group("pod/small", "250m")}}});
  CHECK(room == "raise requests.cpu of quota compute to 5 and pods of quota objects to 8");
  WhyAnswer of_set = answer;
  of_set.of = {"replicaset", "apps", "web-1"};
  of_set.top = {"deployment", "apps", "web"};
  CHECK(inspect::RoomFor(of_set, {{"compute", "requests.cpu", {Group("deployment.apps/web", "2")}},
                                  {"objects", "pods", {Group("deployment.apps/web", "3")}}}) ==
        room);
  WhyAnswer with_claims = answer;
  with_claims.stay = {"persistentvolumeclaim/data-web-0"};
  CHECK(inspect::RoomFor(
            with_claims,
            {{"compute", "requests.cpu", {Group("persistentvolumeclaim/data-web-0", "2")}}}) ==
        room);
}

TEST_CASE("why: what the control plane creates again is not offered for deletion", "[inspect]") {
  WhyAnswer answer;
  answer.quotas = {{.quota = "q",
                    .names = {{.name = "pods", .hard = Amount("1"), .lacks_for_all = Amount("1")}},
                    .objection = ""}};
  for (const char* title : {"configmap/kube-root-ca.crt", "serviceaccount/default",
                            "service/kubernetes", "endpoints/web", "node/n"}) {
    CHECK(inspect::RoomFor(answer, {{"q", "pods", {Group(title, "1")}}}) ==
          "raise pods of quota q to 2");
  }
  CHECK(inspect::RoomFor(answer, {{"q", "pods", {Group("configmap/default", "1")}}}) ==
        "raise pods of quota q to 2, or delete configmap/default (pods=1)");
}

TEST_CASE("why: a missing value is told first, with the limits that it needs", "[inspect]") {
  WhyAnswer answer = Web(5, 3);
  const std::string raise = inspect::RoomFor(answer, {});
  REQUIRE(raise == "raise requests.cpu of quota compute to 5 and pods of quota objects to 8");
  const auto lack = [&](const char* least, const char* used, const char* hard) {
    answer.quotas.back().objection = "must specify limits.memory for: c";
    answer.quotas.back().missing = {{.name = "limits.memory",
                                     .what = "limits.memory for: c",
                                     .least = Amount(least),
                                     .used = Amount(used),
                                     .hard = Amount(hard)}};
    return inspect::RoomFor(answer, {});
  };
  CHECK(lack("2Gi", "1Gi", "4Gi") ==
        "specify limits.memory for: c (at most 3Gi in all missing pods), and " + raise);
  CHECK(lack("4Gi", "1Gi", "4Gi") ==
        "specify limits.memory for: c (as little as its request), and " + raise +
            " and limits.memory of quota objects to 5Gi");
  CHECK(lack("0", "4Gi", "4Gi") == "specify limits.memory for: c, and " + raise +
                                       " and limits.memory of quota objects above 4Gi");
  SECTION("for a quota that only warns it does not") {
    answer.quotas.back().mode = "Warn";
    CHECK(inspect::RoomFor(answer, {}).starts_with("raise requests.cpu"));
  }
  SECTION("room does not help against a refusal that does not depend on quotas") {
    answer.refusals = {"maximum cpu usage per Container is 1, but limit is 2"};
    CHECK(inspect::RoomFor(answer, {}).empty());
  }
}

TEST_CASE("why: the document has the same content", "[inspect]") {
  const auto value = inspect::WhyValue(Web(5, 3));
  CHECK(json::Write(value).starts_with(
      R"({"apiVersion":"cli.quota-controller-manager.io/v1alpha1",)"
      R"("kind":"QuotaExplanation","object":"deployment.apps/web","wants":5,"has":3,"refused":true,)"
      R"("quotas":[{"quota":"compute","refuses":true,"resources":[{"resource":"requests.cpu",)"
      R"("hard":"4","each":"500m","used":"4","lacksForNext":"500m","lacksForAll":"1"})"));
}

TEST_CASE("why: ages are rounded down to one unit", "[inspect]") {
  CHECK(inspect::AgeText(std::chrono::seconds(119)) == "119 s");
  CHECK(inspect::AgeText(std::chrono::minutes(90)) == "90 min");
  CHECK(inspect::AgeText(std::chrono::hours(30)) == "30 h");
  CHECK(inspect::AgeText(std::chrono::hours(50)) == "2 d");
}

}  // namespace why_test
