// The core quota API, and the properties of all its evaluators.

#include "pkg/quota/core/core_quota.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "pkg/json/projection.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core_quota_test {
namespace {

// Every name without a slash that the API server accepts, the count/ name for each, and one of each
// family of names with a slash.
const std::vector<std::string> kCountedNames = {"cpu",
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
                                                "count/resourceclaims.resource.k8s.io",
                                                "gold.storageclass.storage.k8s.io/requests.storage",
                                                "gold.storageclass.storage.k8s.io/"
                                                "persistentvolumeclaims",
                                                "gpu.deviceclass.resource.k8s.io/devices",
                                                "requests.deviceclass.resource.kubernetes.io/gpu",
                                                "requests.example.com/gpu"};

TEST_CASE("core quota: its resource is v1 ResourceQuota", "[quota][core]") {
  const QuotaApi core = CoreQuotaApi();
  CHECK(core.name == "core");
  CHECK(core.kind == "ResourceQuota");
  CHECK(core.resource == api::GroupVersionResource{"", "v1", "resourcequotas"});
}

TEST_CASE("core evaluators: each file of the folder has one, for a different resource",
          "[quota][core]") {
  std::set<std::string> resources;
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    CHECK(resources.insert(evaluator.resource.ToString()).second);
  }
  for (const char* resource :
       {"pods", "configmaps", "secrets", "services", "resourcequotas", "replicationcontrollers",
        "persistentvolumeclaims", "resourceclaims.resource.k8s.io"}) {
    INFO(resource);
    CHECK(resources.contains(resource));
  }
}

TEST_CASE("core evaluators: each counted name has one owner", "[quota][core]") {
  const std::vector<Evaluator> all = core::AllEvaluators();
  for (const std::string& name : kCountedNames) {
    INFO(name);
    CHECK(std::ranges::count_if(
              all, [&](const Evaluator& evaluator) { return evaluator.owns(name); }) == 1);
  }
}

TEST_CASE("core evaluators: pods own a name with the prefix requests., even that of a class",
          "[quota][core]") {
  // Such a name is also a valid extended resource. Pods own it but add nothing to it.
  for (const char* name : {"requests.x.storageclass.storage.k8s.io/requests.storage",
                           "requests.x.deviceclass.resource.k8s.io/devices"}) {
    INFO(name);
    CHECK(std::ranges::count_if(core::AllEvaluators(), [&](const Evaluator& evaluator) {
            return evaluator.owns(name);
          }) == 2);
  }
}

TEST_CASE("core evaluators: no evaluator owns names that are accepted but never counted",
          "[quota][core]") {
  for (const char* name : {"limits.example.com/gpu",
                           "example.com/gpu",
                           "count/services.loadbalancers",
                           "storage",
                           "limits.storage",
                           "limits.hugepages-2Mi",
                           "count/deployments.apps",
                           "count/events",
                           "",
                           "count/resourceclaims",
                           "count/persistentvolumeclaims.apps",
                           "services.clusterips",
                           "gold.storageclass.storage.k8s.io/pods",
                           "gold.storageclass.storage.k8s.io/storage",
                           "storageclass.storage.k8s.io/requests.storage",
                           "gold.example.storage.k8s.io/persistentvolumeclaims",
                           "example.com/persistentvolumeclaims",
                           "gpu.deviceclass.resource.k8s.io/claims",
                           "deviceclass.resource.k8s.io/devices",
                           "deviceclass.resource.kubernetes.io/gpu",
                           "requests.",
                           "requests.kubernetes.io/x",
                           "podsx"}) {
    for (const Evaluator& evaluator : core::AllEvaluators()) {
      INFO(name << " " << evaluator.resource.ToString());
      CHECK_FALSE(evaluator.owns(name));
    }
  }
}

TEST_CASE("core evaluators: an object counts only under owned names, and once as an object",
          "[quota][core]") {
  const std::vector<Evaluator> all = core::AllEvaluators();
  for (const Evaluator& evaluator : all) {
    INFO(evaluator.resource.ToString());
    const auto facts = evaluator.facts_of(Json("{}"), {});
    REQUIRE(facts.has_value());
    for (const auto& [name, quantity] : facts->now.usage) {
      INFO(name);
      CHECK(evaluator.owns(name));
      CHECK(std::ranges::count_if(all, [&](const Evaluator& other) { return other.owns(name); }) ==
            1);
    }
    CHECK(facts->now.usage.Get("count/" + evaluator.resource.ToString()) == Q("1"));
    for (const Attribute& attribute : facts->now.attributes) {
      CHECK(std::ranges::count(evaluator.scopes, attribute.first) == 1);
    }
    CHECK(std::ranges::is_sorted(facts->now.attributes));
  }
}

TEST_CASE("core quota: a count/ name has its resource", "[quota][core]") {
  const auto counted = CoreQuotaApi().counted_resource;
  CHECK(counted("count/pods") == api::GroupResource{"", "pods"});
  CHECK(counted("count/deployments.apps") == api::GroupResource{"apps", "deployments"});
  CHECK(counted("count/widgets.example.com") == api::GroupResource{"example.com", "widgets"});
  // "loadbalancers" has the form of a group. No server has such a resource, so nothing is counted.
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
  const auto facts = counter->facts_of(Json(R"({"spec":{"replicas":7}})"), {});
  REQUIRE(facts.has_value());
  CHECK(facts->now == Using({{"count/deployments.apps", "1"}}));
  CHECK_FALSE(CoreQuotaApi().object_counter({"", "events"}).has_value());
  CHECK_FALSE(CoreQuotaApi().object_counter({"events.k8s.io", "events"}).has_value());
}

TEST_CASE("core evaluators: they read only the fields that they list", "[quota][core]") {
  // The evaluator's answer is the same for the whole object and for its projection.
  constexpr std::string_view kObject = R"({
    "metadata": {"name": "x", "deletionTimestamp": "2024-05-01T10:00:00Z",
                 "deletionGracePeriodSeconds": 30,
                 "annotations": {"volume.beta.kubernetes.io/storage-class": "fast"}},
    "spec": {
      "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false,
      "ports": [{"port": 80, "nodePort": 30080}, {"port": 81}],
      "devices": {"requests": [
        {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount",
                                  "count": 3}},
        {"name": "s", "firstAvailable": [
          {"name": "t", "deviceClassName": "gpu", "allocationMode": "All"},
          {"name": "u", "deviceClassName": "fpga", "allocationMode": "ExactCount", "count": 2}]}]},
      "activeDeadlineSeconds": 5, "priorityClassName": "high", "overhead": {"cpu": "10m"},
      "resources": {"requests": {"memory": "1Gi", "storage": "1500m"}},
      "storageClassName": "slow", "volumeAttributesClassName": "gold",
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
      "allocatedResources": {"storage": "5"}, "currentVolumeAttributesClassName": "silver",
      "modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold"},
      "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
      "containerStatuses": [{"name": "a", "resources": {"requests": {"cpu": "3"}},
                             "allocatedResources": {"cpu": "4"}}],
      "initContainerStatuses": [{"name": "s", "resources": {"limits": {"cpu": "3"}}}]}})";
  std::map<std::string, Facts> seen;
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    INFO(evaluator.resource.ToString());
    std::vector<std::string> fields = evaluator.fields;
    fields.emplace_back("metadata.name");
    const auto projected = json::ParseProjected(kObject, json::Projection(fields));
    REQUIRE(projected.has_value());
    const auto of_whole = evaluator.facts_of(Json(kObject), {});
    const auto of_projected = evaluator.facts_of(*projected, {});
    REQUIRE(of_whole.has_value());
    REQUIRE(of_projected.has_value());
    CHECK(of_whole->now == of_projected->now);
    CHECK(of_whole->later.has_value() == of_projected->later.has_value());
    seen[evaluator.resource.resource] = of_projected->now;
    if (evaluator.resource.resource == "pods") CHECK(of_projected->later.has_value());
  }
  // Nearly every field affects the answers, so equal answers prove something.
  CHECK(seen["pods"].usage.Get("requests.cpu") == Q("4010m"));
  CHECK(seen["pods"].usage.Get("limits.cpu") == Q("3010m"));
  CHECK(seen["pods"].attributes.size() == 4);
  CHECK(seen["services"].usage.Get("services.loadbalancers") == Q("1"));
  CHECK(seen["services"].usage.Get("services.nodeports") == Q("1"));
  const Facts& volumes = seen["persistentvolumeclaims"];
  CHECK(volumes.usage.Get("fast.storageclass.storage.k8s.io/requests.storage") == Q("5"));
  CHECK(volumes.attributes.size() == 2);
  const Facts& devices = seen["resourceclaims"];
  CHECK(devices.usage.Get("gpu.deviceclass.resource.k8s.io/devices") == Q("35"));
  CHECK(devices.usage.Get("fpga.deviceclass.resource.k8s.io/devices") == Q("2"));
}

}  // namespace
}  // namespace quota::core_quota_test
