// The core quota API, and what holds for each of its evaluators whatever it counts.

#include "pkg/quota/core/core_quota.h"

#include <algorithm>
#include <set>
#include <string>

#include "pkg/json/projection.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota {
namespace {

// Every name without a slash that the API server accepts, and the counts that are their twins.
const std::vector<std::string> kFixedNames = {"cpu",
                                              "requests.cpu",
                                              "limits.cpu",
                                              "memory",
                                              "requests.memory",
                                              "limits.memory",
                                              "ephemeral-storage",
                                              "requests.ephemeral-storage",
                                              "limits.ephemeral-storage",
                                              "hugepages-2Mi",
                                              "requests.hugepages-2Mi",
                                              "requests.storage",
                                              "pods",
                                              "services",
                                              "services.loadbalancers",
                                              "services.nodeports",
                                              "replicationcontrollers",
                                              "resourcequotas",
                                              "secrets",
                                              "configmaps",
                                              "persistentvolumeclaims",
                                              "count/pods",
                                              "count/services",
                                              "count/replicationcontrollers",
                                              "count/resourcequotas",
                                              "count/secrets",
                                              "count/configmaps",
                                              "count/persistentvolumeclaims",
                                              "requests.example.com/gpu"};

TEST_CASE("core quota: it is v1 ResourceQuota", "[quota][core]") {
  const QuotaApi core = CoreQuotaApi();
  CHECK(core.name == "core");
  CHECK(core.kind == "ResourceQuota");
  CHECK(core.resource == api::GroupVersionResource{"", "v1", "resourcequotas"});
}

TEST_CASE("core evaluators: each file of the folder is one, for a resource of its own",
          "[quota][core]") {
  std::set<std::string> resources;
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    CHECK(resources.insert(evaluator.resource.ToString()).second);
  }
  for (const char* resource : {"pods", "configmaps", "secrets", "services", "resourcequotas",
                               "replicationcontrollers", "persistentvolumeclaims"}) {
    INFO(resource);
    CHECK(resources.contains(resource));
  }
}

TEST_CASE("core evaluators: no fixed name has two owners", "[quota][core]") {
  for (const std::string& name : kFixedNames) {
    INFO(name);
    CHECK(std::ranges::count_if(core::AllEvaluators(), [&](const Evaluator& evaluator) {
            return evaluator.owns(name);
          }) <= 1);
  }
}

TEST_CASE("core evaluators: nobody owns what is accepted but never counted", "[quota][core]") {
  for (const char* name :
       {"limits.example.com/gpu", "example.com/gpu", "count/services.loadbalancers", "storage",
        "limits.storage", "limits.hugepages-2Mi", "count/deployments.apps", "count/events", "",
        "requests.", "requests.kubernetes.io/x", "podsx"}) {
    for (const Evaluator& evaluator : core::AllEvaluators()) {
      INFO(name << " " << evaluator.resource.ToString());
      CHECK_FALSE(evaluator.owns(name));
    }
  }
}

TEST_CASE("core evaluators: an object counts under names the evaluator owns, once as an object",
          "[quota][core]") {
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    INFO(evaluator.resource.ToString());
    const auto facts = evaluator.facts_of(Json("{}"), base::WallTime());
    REQUIRE(facts.has_value());
    for (const auto& [name, quantity] : facts->now.usage) CHECK(evaluator.owns(name));
    CHECK(facts->now.usage.Get("count/" + evaluator.resource.ToString()) == Q("1"));
    for (const Attribute& attribute : facts->now.attributes) {
      CHECK(std::ranges::count(evaluator.scopes, attribute.first) == 1);
    }
    CHECK(std::ranges::is_sorted(facts->now.attributes));
  }
}

TEST_CASE("core quota: a count name names its resource", "[quota][core]") {
  const auto counted = CoreQuotaApi().counted_resource;
  CHECK(counted("count/pods") == api::GroupResource{"", "pods"});
  CHECK(counted("count/deployments.apps") == api::GroupResource{"apps", "deployments"});
  CHECK(counted("count/widgets.example.com") == api::GroupResource{"example.com", "widgets"});
  // It reads as a group and counts nothing, as no such resource is served.
  CHECK(counted("count/services.loadbalancers") == api::GroupResource{"loadbalancers", "services"});
  for (const char* name :
       {"pods", "count/", "count/.apps", "count/pods.", "count/a/b", "Count/pods", "count/events",
        "count/events.events.k8s.io", "count/bindings", "count/componentstatuses",
        "count/tokenreviews.authentication.k8s.io",
        "count/selfsubjectreviews.authentication.k8s.io",
        "count/subjectaccessreviews.authorization.k8s.io",
        "count/selfsubjectaccessreviews.authorization.k8s.io",
        "count/localsubjectaccessreviews.authorization.k8s.io",
        "count/selfsubjectrulesreviews.authorization.k8s.io"}) {
    INFO(name);
    CHECK_FALSE(counted(name).has_value());
  }
}

TEST_CASE("core quota: any other kind is counted by metadata alone", "[quota][core]") {
  const auto counter = CoreQuotaApi().object_counter({"apps", "deployments"});
  REQUIRE(counter.has_value());
  CHECK(counter->fields.empty());
  CHECK(counter->scopes.empty());
  CHECK(counter->owns("count/deployments.apps"));
  CHECK_FALSE(counter->owns("count/deployments"));
  CHECK_FALSE(counter->owns("count/deployments.extensions"));
  const auto facts = counter->facts_of(Json(R"({"spec":{"replicas":7}})"), base::WallTime());
  REQUIRE(facts.has_value());
  CHECK(facts->now == Using({{"count/deployments.apps", "1"}}));
  CHECK_FALSE(CoreQuotaApi().object_counter({"", "events"}).has_value());
  CHECK_FALSE(CoreQuotaApi().object_counter({"events.k8s.io", "events"}).has_value());
}

TEST_CASE("core evaluators: what they read is what they ask for", "[quota][core]") {
  // The evaluator's answer for the whole object and for its projection is the same.
  constexpr std::string_view kObject = R"({
    "metadata": {"name": "x", "deletionTimestamp": "2024-05-01T10:00:00Z",
                 "deletionGracePeriodSeconds": 30},
    "spec": {
      "activeDeadlineSeconds": 5, "priorityClassName": "high", "overhead": {"cpu": "10m"},
      "resources": {"requests": {"memory": "1Gi"}},
      "volumeAttributesClassName": "gold",
      "affinity": {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
          {"topologyKey": "zone", "namespaces": ["other"]}]},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 1, "podAffinityTerm": {"namespaceSelector": {}}}]}},
      "containers": [{"name": "a", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
      "initContainers": [{"name": "s", "restartPolicy": "Always",
                          "resources": {"limits": {"cpu": "2"}}}]},
    "status": {
      "phase": "Running", "qosClass": "Burstable",
      "currentVolumeAttributesClassName": "silver",
      "modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold"},
      "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
      "containerStatuses": [{"name": "a", "resources": {"requests": {"cpu": "3"}},
                             "allocatedResources": {"cpu": "4"}}],
      "initContainerStatuses": [{"name": "s", "resources": {"limits": {"cpu": "3"}}}]}})";
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    INFO(evaluator.resource.ToString());
    std::vector<std::string> fields = evaluator.fields;
    fields.emplace_back("metadata.name");
    const auto projected = json::ParseProjected(kObject, json::Projection(fields));
    REQUIRE(projected.has_value());
    const auto of_whole = evaluator.facts_of(Json(kObject), base::WallTime());
    const auto of_projected = evaluator.facts_of(*projected, base::WallTime());
    REQUIRE(of_whole.has_value());
    REQUIRE(of_projected.has_value());
    CHECK(of_whole->now == of_projected->now);
    CHECK(of_whole->later.has_value() == of_projected->later.has_value());
    // And for pods nearly every field shows in the answer, so that equal does not mean equally blind.
    if (evaluator.resource.resource != "pods") continue;
    CHECK(of_projected->now.usage.Get("requests.cpu") == Q("4010m"));
    CHECK(of_projected->now.usage.Get("limits.cpu") == Q("3010m"));
    CHECK(of_projected->now.attributes.size() == 4);
    CHECK(of_projected->later.has_value());
  }
}

}  // namespace
}  // namespace quota
