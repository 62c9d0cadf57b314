// The validation rules of KarmadaQuota's CRD and the match conditions of its webhook on an API
// server, without the daemon.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/federation.h"
#include "tests/pkg/quota/karmada/sample_bindings.h"

namespace e2e {

TEST_CASE("karmada: the webhook is called only for updates that can need quota",
          "[e2e][karmada][real-only][server]") {
  Federation f;
  f.Limit("q", {{"pods", "100"}});
  REQUIRE(f.Post(Json(sample::kDeployment)).ok());
  const auto asked = [&] {
    return f.daemon().Metric("quota_admission_decisions_total").value_or(-1);
  };
  const double created = asked();
  const std::string name = "web-deployment";
  CHECK(f.Patch(name, R"({"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}})").ok());
  CHECK(f.Patch(name, R"({"spec":{"resource":{"resourceVersion":"2000"}}})").ok());
  CHECK(f.Patch(name, R"({"spec":{"replicaRequirements":{"nodeClaim":{"x":"y"}}}})").ok());
  CHECK(f.Patch(name, R"({"spec":{"suspension":{"dispatching":true}}})").ok());
  CHECK(f.Patch(name, R"({"spec":{"schedulePriority":{"priority":5}}})").ok());
  CHECK(f.api()
            .Do(PatchOf(f.Path("resourcebindings", name, "status"),
                        R"({"status":{"schedulerObservedGeneration":3}})"))
            .has_value());
  CHECK(asked() == created);
  double expected = created;
  for (const char* patch :
       {R"({"spec":{"replicas":4}})", R"({"spec":{"clusters":[{"name":"m","replicas":4}]}})",
        R"({"spec":{"replicaRequirements":{"resourceRequest":{"cpu":"1"}}}})",
        R"({"spec":{"replicaRequirements":{"priorityClassName":"high"}}})",
        R"({"spec":{"components":[{"name":"a","replicas":1}]}})",
        R"({"spec":{"suspension":{"scheduling":true}}})",
        R"({"spec":{"resource":{"kind":"StatefulSet"}}})",
        R"({"spec":{"resource":{"apiVersion":"apps/v2"}}})"}) {
    INFO(patch);
    CHECK(f.Patch(name, patch).ok());
    CHECK(asked() >= ++expected);
    expected = asked();
  }
}

TEST_CASE("karmada: an invalid quota is refused when it is written",
          "[e2e][karmada][real-only][server]") {
  Federation f({.reachable = false});
  const auto refusal = [&](const std::string& spec) {
    const Attempt attempt = ToAttempt(
        f.api().Do(PostOf(f.Path("karmadaquotas"),
                          Json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"KarmadaQuota",
             "metadata":{"name":"tried"},"spec":)" +
                               spec + "}"))));
    if (attempt.ok()) f.api().Delete(f.Path("karmadaquotas", "tried"));
    return attempt.ok() ? "accepted" : attempt.message;
  };
  const std::string names =
      ". Supported are cpu, memory, requests.cpu, requests.memory, pods, services, secrets, "
      "third-party resources";
  for (const char* name : {"limits.cpu",
                           "limits.memory",
                           "limits.example.com/gpu",
                           "limits.rdma/hca",
                           "requests.requests.rdma/hca",
                           "requests.limits.rdma/hca",
                           "requests.count/pods",
                           "configmaps",
                           "services.nodeports",
                           "persistentvolumeclaims",
                           "requests.storage",
                           "resourcequotas",
                           "ephemeral-storage",
                           "hugepages-2Mi",
                           "requests.pods",
                           "requests.requests.cpu",
                           "count/",
                           "count/pods.",
                           "count/a/b",
                           "gold.storageclass.storage.k8s.io/requests.storage",
                           "gpu.deviceclass.resource.k8s.io/devices",
                           "nonsense"}) {
    INFO(name);
    CHECK_THAT(refusal(R"({"hard":{")" + std::string(name) + R"(":"1","pods":"1"}})"),
               Catch::Contains("a name can never be counted: " + std::string(name) + names));
  }
  CHECK_THAT(refusal(R"({"hard":{"deployments.apps":"1"}})"),
             Catch::Contains("deployments.apps (did you mean count/deployments.apps?)" + names));
  for (const char* hard :
       {R"({"cpu":"10","memory":"20Gi","pods":8,"services":"1","secrets":"1"})",
        R"({"requests.cpu":"500m","requests.memory":"1e3","cpu":0})",
        R"({"example.com/fpga":"3","requests.example.com/fpga":"3","a.b.c/D_e.f":"1"})",
        R"({"rdma/hca":"2","requests.rdma/hca":"2"})",
        R"({"count/deployments.apps":"4","count/pods":"0","count/a.b.example.com":"1k"})",
        R"({"example.com/bytes":"100Ti","requests.example.com/bytes":"1Pi"})", "{}"}) {
    INFO(hard);
    CHECK(refusal(R"({"hard":)" + std::string(hard) + "}") == "accepted");
  }
  CHECK(refusal("{}") == "accepted");
  json::Value crowded = Json(R"({"hard":{"cpu":1}})");
  for (int i = 0; i < 30; ++i) {
    crowded.Make({"hard", "example.com/gpu-" + std::to_string(i)}) = 1;
  }
  CHECK_THAT(refusal(json::Write(crowded)), Catch::Contains("must have at most 30 items"));
  const std::string quantity = "must be a quantity that is not negative, such as 2, 500m or 10Gi";
  for (const char* amount : {R"("-1")", "-1", R"("abc")", R"("")", R"("1 Gi")"}) {
    INFO(amount);
    CHECK_THAT(refusal(R"({"hard":{"cpu":)" + std::string(amount) + "}}"),
               Catch::Contains(quantity));
  }
  for (const char* name : {"pods", "services", "secrets", "count/pods", "example.com/gpu"}) {
    INFO(name);
    CHECK_THAT(refusal(R"({"hard":{")" + std::string(name) + R"(":"500m"}})"),
               Catch::Contains("are counted in whole numbers"));
  }
  CHECK_THAT(refusal(R"({"scopes":["BestEffort"]})"),
             Catch::Contains(R"(supported values: "PriorityClass")"));
  const auto expression = [&](const std::string& members, const std::string& hard = "{}") {
    return refusal(R"({"hard":)" + hard + R"(,"scopeSelector":{"matchExpressions":[{)" + members +
                   "}]}}");
  };
  const std::string scope = R"("scopeName":"PriorityClass","operator":)";
  CHECK_THAT(expression(R"("scopeName":"Terminating","operator":"Exists")"),
             Catch::Contains(R"(supported values: "PriorityClass")"));
  CHECK_THAT(expression(scope + R"("Gt")"),
             Catch::Contains(R"(supported values: "In", "NotIn", "Exists", "DoesNotExist")"));
  for (const char* op : {R"("In")", R"("NotIn")"}) {
    CHECK_THAT(expression(scope + op),
               Catch::Contains("In and NotIn need at least one priority class in values"));
    CHECK_THAT(expression(scope + op + R"(,"values":[])"),
               Catch::Contains("In and NotIn need at least one priority class in values"));
    CHECK(expression(scope + op + R"(,"values":["high"])", R"({"cpu":"1"})") == "accepted");
  }
  for (const char* op : {R"("Exists")", R"("DoesNotExist")"}) {
    CHECK_THAT(expression(scope + op + R"(,"values":["a"])"),
               Catch::Contains("Exists and DoesNotExist take no values"));
    CHECK(expression(scope + op, R"({"pods":"1","requests.example.com/gpu":"1"})") == "accepted");
  }
  for (const char* name : {"services", "secrets", "count/deployments.apps"}) {
    const std::string hard = R"({")" + std::string(name) + R"(":"1"})";
    const std::string words = "with a scope only pods, cpu, memory, requests.cpu, requests.memory";
    CHECK_THAT(expression(scope + R"("Exists")", hard), Catch::Contains(words));
    CHECK_THAT(refusal(R"({"scopes":["PriorityClass"],"hard":)" + hard + "}"),
               Catch::Contains(words));
  }
}

}  // namespace e2e
