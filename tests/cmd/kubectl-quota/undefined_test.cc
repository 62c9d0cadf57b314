// What a quota says that only a UsageDefinition explains, to users who may not list definitions.

#include <catch2/catch.hpp>

#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace undefined_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kClusterQuotas = quota::ClusterQuotaApi().resource;
const api::GroupVersionResource kDefinitions{"quota-controller-manager.io", "v1alpha1",
                                             "usagedefinitions"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};

constexpr const char* kPod =
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop, labels: {tier: gold}}, spec: "
    "{containers: [{name: c}]}}";
constexpr const char* kSet =
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop, uid: w}, spec: "
    "{replicas: 2, selector: {matchLabels: {tier: gold}}, template: {metadata: {labels: {tier: "
    "gold}}, spec: {containers: [{name: c}]}}}}";
constexpr const char* kConfig =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}";
constexpr const char* kTiers =
    "{metadata: {name: pods}, spec: {resource: {group: '', resource: pods}, scopes: [{name: "
    "acme.io/tier, path: .metadata.labels.tier}]}}";
constexpr const char* kScopeUnknown =
    "quota clusterquota/gold has the scope acme.io/tier, and no UsageDefinition is known that says "
    "what is in it";

// A full quota of the pods of one tier.
std::string FullQuota() {
  return "{apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: {name: "
         "gold}, spec: {namespaceSelector: {}, hard: {pods: 2}, scopeSelector: {matchExpressions: "
         "[{scopeName: acme.io/tier, operator: In, values: [gold]}]}}, status: {hard: {pods: 2}, "
         "used: {pods: 2}}}";
}

class Tiers : public Plugin {
 public:
  Tiers() {
    cluster.Serve(kClusterQuotas, "ClusterQuota", false);
    cluster.Serve(kDefinitions, "UsageDefinition", false);
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kReplicaSets, "ReplicaSet");
    Put(kDefinitions, kTiers);
    Put(kClusterQuotas, FullQuota());
  }
  ~Tiers() { cluster.ForgetFunctions(); }
  Tiers(const Tiers&) = delete;
  Tiers& operator=(const Tiers&) = delete;

  void ForbidDefinitions() {
    cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("usagedefinitions") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
    };
  }
  Told Check(const std::string& files, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"check", "-n", "shop", "-f", File("files.yaml", files)});
    return Ask(more);
  }
};

}  // namespace

TEST_CASE("check: what is in a scope is unknown if its definition may not be listed",
          "[kubectl-quota]") {
  Tiers plugin;
  CHECK(plugin.Check(kPod).code == 1);
  plugin.ForbidDefinitions();
  const auto told = plugin.Check(kPod);
  INFO(told.output << told.warnings);
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("Cannot tell: ") &&
                              Contains(std::string("pod/p: ") + kScopeUnknown) && !Contains("Yes"));
  const auto document = json::Parse(plugin.Check(kPod, {"-o", "json"}).output);
  REQUIRE(document.has_value());
  CHECK_FALSE(document->At({"fits"})->AsBool().value());
  CHECK(document->ArrayAt({"unknown"}).size() == 1);
  CHECK(plugin.Check(kPod, {"--allow-unknown"}).code == 0);
  // The quota limits nothing that a ConfigMap may be.
  CHECK(plugin.Check(kConfig).code == 0);
  const std::string quota = plugin.File("quota.yaml", FullQuota());
  CHECK(plugin.Check(kPod, {"--quota-file", quota}).code == 3);
  CHECK(plugin.Check(kConfig, {"--quota-file", quota}).code == 0);
}

TEST_CASE("check: definitions are unknown if discovery of their group fails", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kPods, "Pod");
  plugin.Put({"", "v1", "resourcequotas"},
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {acme.io/chips: 2}}, status: {hard: {acme.io/chips: 2}, used: {acme.io/chips: "
             "2}}}");
  const auto check = [&] {
    return plugin.Ask({"check", "-n", "shop", "-f", plugin.File("pod.yaml", kPod)});
  };
  CHECK(check().code == 0);  // the server has no definitions
  // Serves one version that does not answer.
  plugin.cluster.Serve({"quota-controller-manager.io", "v1", "others"}, "Other");
  plugin.cluster.SetStale("quota-controller-manager.io", true);
  const auto told = check();
  INFO(told.output << told.warnings);
  CHECK(told.code == 3);
}

TEST_CASE("check: new pods of a rollout may use names of unknown definitions", "[kubectl-quota]") {
  Tiers plugin;
  const std::string image = "containers: [{name: c, image: ";
  const auto deployment = [&](const std::string& version) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: d}"
           ", spec: {replicas: 2, selector: {matchLabels: {tier: gold}}, template: {metadata: "
           "{labels: {tier: gold}}, spec: {" +
           image + version + "}]}}}}";
  };
  plugin.cluster.Serve({"apps", "v1", "deployments"}, "Deployment");
  plugin.Put({"apps", "v1", "deployments"}, deployment("one"));
  plugin.ForbidDefinitions();
  const auto told = plugin.Check(deployment("two"));
  INFO(told.output << told.warnings);
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains(std::string("deployment.apps/web: ") + kScopeUnknown));
}

TEST_CASE("why: whether a quota refuses is unknown if a definition may not be listed",
          "[kubectl-quota]") {
  Tiers plugin;
  plugin.Put(kReplicaSets, kSet);
  CHECK(plugin.Ask({"why", "rs/web"}).code == 1);
  plugin.ForbidDefinitions();
  const auto told = plugin.Ask({"why", "rs/web"});
  INFO(told.output << told.warnings);
  CHECK_THAT(told.output, Contains(std::string("cannot tell: ") + kScopeUnknown) &&
                              !Contains("no quota refuses"));
  const auto document = json::Parse(plugin.Ask({"why", "rs/web", "-o", "json"}).output);
  REQUIRE(document.has_value());
  CHECK(document->ArrayAt({"unknown"}).size() == 1);
}

TEST_CASE("why: a pod whose amount cannot be read is refused", "[kubectl-quota]") {
  Tiers plugin;
  plugin.Put(kDefinitions,
             "{metadata: {name: pods}, spec: {resource: {group: '', resource: pods}, usage: "
             "[{name: example.com/licenses, path: '.metadata.annotations[''licenses'']'}]}}");
  const auto limit = [&](const std::string& mode) {
    plugin.Put(kClusterQuotas,
               "{apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: "
               "{name: gold}, spec: {namespaceSelector: {}, enforcement: " +
                   mode +
                   ", hard: {example.com/licenses: 9}}, status: {hard: {example.com/licenses: 9}, "
                   "used: {example.com/licenses: 0}}}");
  };
  plugin.Put(kReplicaSets,
             "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop, uid: "
             "w}, spec: {replicas: 2, template: {metadata: {annotations: {licenses: two}}, spec: "
             "{containers: [{name: c}]}}}}");
  const std::string why = "it cannot be counted: metadata.annotations[licenses]: quantities must";
  limit("Deny");
  const auto told = plugin.Ask({"why", "rs/web"});
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("each is refused\n  the server   " + why) &&
                              Contains("← refuses") && !Contains("no quota refuses"));
  const auto document = json::Parse(plugin.Ask({"why", "rs/web", "-o", "json"}).output);
  REQUIRE(document.has_value());
  CHECK(document->ArrayAt({"refusals"}).size() == 1);
  limit("Warn");
  CHECK(plugin.Ask({"why", "rs/web"}).code == 0);
}

TEST_CASE("why: pods use what their classes say", "[kubectl-quota]") {
  Tiers plugin;
  const api::GroupVersionResource tiers{"g.io", "v1", "tiers"};
  plugin.cluster.Serve(tiers, "Tier", false);
  plugin.Put(tiers, "{apiVersion: g.io/v1, kind: Tier, metadata: {name: gold}, spec: {iops: 7}}");
  plugin.Put(kDefinitions,
             "{metadata: {name: pods}, spec: {resource: {group: '', resource: pods}, usage: "
             "[{name: example.com/iops, class: {path: .metadata.labels.tier, resource: {group: "
             "g.io, resource: tiers}, field: .spec.iops}}]}}");
  plugin.Put(kClusterQuotas,
             "{apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: "
             "{name: gold}, spec: {namespaceSelector: {}, hard: {example.com/iops: 9}}, status: "
             "{hard: {example.com/iops: 9}, used: {example.com/iops: 5}}}");
  plugin.Put(kReplicaSets, kSet);
  const auto told = plugin.Ask({"why", "rs/web"});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("each needs example.com/iops=7\n") &&
                              Contains("example.com/iops 5/9, 4 free, lacks 3 for the next"));
  SECTION("which is unknown if they may not be listed") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/tiers")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
    };
    const auto unseen = plugin.Ask({"why", "rs/web"});
    CHECK_THAT(unseen.output,
               Contains("cannot tell: usage that depends on tiers.g.io is left out"));
  }
}

TEST_CASE("who: holders are unknown if a definition may not be listed", "[kubectl-quota]") {
  Tiers plugin;
  plugin.Put(kPods, kPod);
  CHECK_THAT(plugin.Ask({"who", "clusterquota/gold", "-o", "json"}).output, !Contains("unknown"));
  plugin.ForbidDefinitions();
  const auto told = plugin.Ask({"who", "clusterquota/gold", "-o", "json"});
  INFO(told.output << told.warnings);
  CHECK_THAT(told.warnings, Contains(kScopeUnknown));
  const auto document = json::Parse(told.output);
  REQUIRE(document.has_value());
  CHECK(document->ArrayAt({"unknown"}).size() == 1);
}

}  // namespace undefined_test
