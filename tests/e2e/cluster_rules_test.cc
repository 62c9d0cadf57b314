// The validation rules of ClusterQuota's CRD on an API server, without the daemon.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::cluster_rules_test {
namespace {

// Returns "accepted" or the reason of the refusal.
std::string Try(Api& api, const std::string& spec) {
  const Attempt attempt =
      ToAttempt(api.Do(PostOf(ClusterQuotas::Path(), ClusterQuotas::Quota("tried", Json(spec)))));
  if (attempt.ok()) api.Delete(ClusterQuotas::Path("tried"));
  return attempt.ok() ? "accepted" : attempt.message;
}

}  // namespace

TEST_CASE("cluster: an invalid quota is refused when it is written",
          "[e2e][cluster][real-only][server]") {
  Scenario s;
  const ClusterQuotas served(s.api());
  for (
      const char* spec :
      {"{}", R"({"namespaceSelector":{},"hard":{"pods":5,"requests.cpu":"1500m"}})",
       R"({"parent":"company","hard":{"pods":"5"},"guaranteed":{"pods":5}})",
       R"({"hard":{"count/deployments.apps":"4","requests.example.com/gpu":"1",
            "gold.storageclass.storage.k8s.io/requests.storage":"1Ti","hugepages-2Mi":"1Gi"}})",
       R"({"hard":{"pods":"5"},"scopes":["BestEffort"],"enforcement":"Warn"})",
       R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"a","Team_1":""},
            "matchExpressions":[{"key":"x-1.example.com/a.b","operator":"In","values":["","A_1"]}]}})",
       R"({"hard":{"requests.storage":"5","count/persistentvolumeclaims":"1",
            "gold.storageclass.storage.k8s.io/requests.storage":"5"},
            "scopes":["VolumeAttributesClass"]})",
       R"({"hard":{"pods":"5","count/pods":"9","requests.example.com/gpu":"4",
            "requests.deviceclass.resource.kubernetes.io/gpu":"4"},"scopes":["PriorityClass"]})",
       R"({"hard":{"pods":"5","count/pods":"9","requests.example.com/gpu":"4"},
            "scopes":["BestEffort"]})",
       R"({"hard":{"requests.example.com/bytes":"100Ti","count/pods":"1Pi"}})",
       R"({"hard":{"requests.rdma/hca_shared_devices_a":"8"}})",
       R"({"hard":{"count/events.example.com":"1","count/bindings.example.com":"1"}})",
       R"({"hard":{"example.com/bytes":"1.5Gi","nvidia.com/gpu":2,"a-b.example.com/devices":"500m",
            "notkubernetes.io/a_B.c":"1"},"guaranteed":{"example.com/bytes":"1Gi"}})",
       R"({"hard":{"example.com/bytes":"1","services":"1","count/buckets.example.com":"1"},
            "scopes":["example.com/tier"]})",
       R"({"hard":{"example.com/bytes":"1","pods":"1"},"scopes":["BestEffort","example.com/tier"]})",
       R"({"hard":{"example.com/bytes":"1","requests.storage":"1"},
            "scopes":["VolumeAttributesClass"]})",
       R"({"hard":{"example.com/bytes":"1"},"scopeSelector":{"matchExpressions":[
            {"scopeName":"example.com/tier","operator":"In","values":["gold"]},
            {"scopeName":"example.com/region","operator":"DoesNotExist"}]}})",
       R"({"hard":{"requests.cpu":2},"guaranteed":{"requests.cpu":"1999m"}})"}) {
    INFO(spec);
    CHECK(Try(s.api(), spec) == "accepted");
  }
  const std::vector<std::pair<std::string, std::string>> wrong_names = {
      {"nonsense", "nonsense. Supported are"},
      {"count/", "count/. Supported are"},
      {"count/a/b", "count/a/b. Supported are"},
      {"requests.pods", "requests.pods. Supported are"},
      {"rdma/hca", "rdma/hca (did you mean requests.rdma/hca?). Supported are"},
      {"limits.nvidia.com/gpu", "limits.nvidia.com/gpu. Supported are"},
      {"kubernetes.io/x", "kubernetes.io/x. Supported are"},
      {"node.kubernetes.io/x", "node.kubernetes.io/x. Supported are"},
      {"a.k8s.io/x", "a.k8s.io/x. Supported are"},
      {"Example.com/x", "Example.com/x. Supported are"},
      {"services.ports", "services.ports. Supported are"},
      {"deployments.apps", "deployments.apps (did you mean count/deployments.apps?). Supported"}};
  for (const auto& [name, why] : wrong_names) {
    INFO(name);
    CHECK_THAT(Try(s.api(), R"({"hard":{"pods":"1",")" + name + R"(":"1","cpu":"1"}})"),
               Catch::Contains("a name can never be counted: " + why));
  }
  for (const char* name :
       {"count/bindings", "count/componentstatuses", "count/events", "count/events.events.k8s.io",
        "count/localsubjectaccessreviews.authorization.k8s.io",
        "count/selfsubjectaccessreviews.authorization.k8s.io",
        "count/selfsubjectreviews.authentication.k8s.io",
        "count/selfsubjectrulesreviews.authorization.k8s.io",
        "count/subjectaccessreviews.authorization.k8s.io",
        "count/tokenreviews.authentication.k8s.io", "requests.kubernetes.io/x",
        "requests.node.kubernetes.io/x"}) {
    INFO(name);
    CHECK_THAT(Try(s.api(), R"({"hard":{")" + std::string(name) + R"(":"1"}})"),
               Catch::Contains("a name can never be counted"));
  }
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {R"({"hard":{"pods":"5"},"guaranteed":{"pods":"6"}})", "must not be above hard"},
      {R"({"hard":{"requests.cpu":"1"},"guaranteed":{"requests.cpu":"1001m"}})",
       "must not be above hard"},
      {R"({"hard":{"pods":"5"},"guaranteed":{"requests.cpu":"1"}})",
       "only what is limited in hard can be guaranteed"},
      {R"({"guaranteed":{"pods":"1"}})", "only what is limited in hard can be guaranteed"},
      {R"({"parent":"tried"})", "a quota cannot be its own parent"},
      {R"({"parent":"Not A Name"})", "spec.parent"},
      {R"({"hard":{"pods":"500m"}})", "counted in whole numbers"},
      {R"({"hard":{"cpu":"-1"}})", "must be a quantity that is not negative"},
      {R"({"hard":{"cpu":"much"}})", "must be a quantity that is not negative"},
      {R"({"enforcement":"Maybe"})", R"(supported values: "Deny", "Warn", "Audit")"},
      {R"({"hard":{"requests.example.com/bytes":"1.5"}})", "counted in whole numbers"},
      {R"({"hard":{"services":"1"},"scopes":["Terminating"]})", "with a scope of pods only"},
      {R"({"hard":{"count/services":"1"},"scopes":["Terminating"]})", "with a scope of pods only"},
      {R"({"hard":{"requests.ephemeral-storage":"1"},"scopes":["PriorityClass"]})",
       "with a scope of pods only"},
      {R"({"hard":{"cpu":"1"},"scopes":["BestEffort"]})", "with the scope BestEffort only"},
      {R"({"hard":{"services":"1"},"scopes":["VolumeAttributesClass"]})",
       "with the scope VolumeAttributesClass only"},
      {R"({"scopes":["BestEffort","NotBestEffort"]})", "exclude each other"},
      {R"({"hard":{"services":"1"},"scopes":["Terminating","example.com/tier"]})",
       "with a scope of pods only"},
      {R"({"hard":{"gold.storageclass.storage.k8s.io/requests.storage":"1"},
          "scopes":["Terminating"]})",
       "with a scope of pods only"},
      {R"({"hard":{"requests.example.com/gpu":"1"},"scopes":["VolumeAttributesClass"]})",
       "with the scope VolumeAttributesClass only"},
      {R"({"scopes":["tier"]})", "must be Terminating, NotTerminating"},
      {R"({"scopes":["rdma/tier"]})", "must be Terminating, NotTerminating"},
      {R"({"scopes":["a.k8s.io/tier"]})", "must be Terminating, NotTerminating"},
      {R"({"scopeSelector":{"matchExpressions":[
          {"scopeName":"requests.example.com/tier","operator":"Exists"}]}})",
       "must be Terminating, NotTerminating"},
      {R"({"scopeSelector":{"matchExpressions":[
          {"scopeName":"example.com/tier","operator":"In"}]}})",
       "In and NotIn need at least one class in values"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}})",
       "In and NotIn need at least one value"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}})",
       "supported values"},
      {R"({"namespaceSelector":{"matchLabels":{"our team":"a"}}})", "a key is not a label"},
      {R"({"namespaceSelector":{"matchLabels":{"Example.com/team":"a"}}})", "a key is not a label"},
      {R"({"namespaceSelector":{"matchLabels":{"team":"a b"}}})", "matchLabels.team"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a/b/c","operator":"Exists"}]}})",
       "matchExpressions[0].key"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"","operator":"Exists"}]}})",
       "matchExpressions[0].key"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["-"]}]}})",
       "matchExpressions[0].values[0]"}};
  for (const auto& [spec, why] : refusals) {
    INFO(spec);
    CHECK_THAT(Try(s.api(), spec), Catch::Contains(why));
  }
}

TEST_CASE("cluster: a label key with a longer prefix than Kubernetes allows is refused",
          "[e2e][cluster][real-only][server]") {
  Scenario s;
  const ClusterQuotas served(s.api());
  std::string longest;
  while (longest.size() < 253) longest += longest.size() % 64 == 63 ? '.' : 'a';
  const auto label = [&](const std::string& prefix) {
    return Try(s.api(), R"({"namespaceSelector":{"matchLabels":{")" + prefix + R"(/team":"a"}}})");
  };
  const auto expression = [&](const std::string& prefix) {
    return Try(s.api(), R"({"namespaceSelector":{"matchExpressions":[{"key":")" + prefix +
                            R"(/team","operator":"Exists"}]}})");
  };
  CHECK(label(longest) == "accepted");
  CHECK(expression(longest) == "accepted");
  const std::string words = "a key is not a label, such as team or example.com/team";
  CHECK_THAT(label(longest + "a"), Catch::Contains("matchLabels") && Catch::Contains(words));
  CHECK_THAT(expression(longest + "a"),
             Catch::Contains("matchExpressions[0].key") && Catch::Contains(words));
}

}  // namespace e2e::cluster_rules_test
