// The commands count as the version of the server does (pkg/quota/rules.h).

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace kubectl_quota_tests::server_rules_test {
namespace {

using Catch::Matchers::Contains;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};
const api::GroupVersionResource kStatefulSets{"apps", "v1", "statefulsets"};
const api::GroupVersionResource kRevisions{"apps", "v1", "controllerrevisions"};

// Its container "a" gets what "b" gives back. It counts 400m up to Kubernetes 1.36, and 300m since.
constexpr const char* kSwapping = R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop, ownerReferences: [{
  apiVersion: apps/v1, kind: StatefulSet, name: web, uid: web, controller: true}]}
spec:
  containers:
  - {name: a, resources: {requests: {cpu: 200m}}}
  - {name: b, resources: {requests: {cpu: 100m}}}
status:
  containerStatuses:
  - {name: a, resources: {requests: {cpu: 100m}}}
  - {name: b, resources: {requests: {cpu: 200m}}}
)";

// Its pod-level resources are empty. It is BestEffort up to Kubernetes 1.36, and not since.
constexpr const char* kEmptyPodLevel =
    "{resources: {}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}";

void PutQuota(Plugin& plugin) {
  plugin.Put(kQuotas, R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: shop}
spec: {hard: {requests.cpu: "2"}}
status: {hard: {requests.cpu: "2"}, used: {requests.cpu: 400m}}
)");
}

// A full quota of the pods that are not BestEffort.
constexpr const char* kFull = R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: full, namespace: shop}
spec: {hard: {pods: "1"}, scopes: [NotBestEffort]}
status: {hard: {pods: "1"}, used: {pods: "1"}}
)";

Told AskWho(Plugin& plugin) {
  PutQuota(plugin);
  plugin.Put(kPods, kSwapping);
  return plugin.Ask({"who", "q", "-o", "csv"});
}

std::string PodFile(const Plugin& plugin) {
  return plugin.File("pod.yaml",
                     "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: " +
                         std::string(kEmptyPodLevel) + "}");
}

TEST_CASE("who: a pod that is being resized counts as the server's version counts it",
          "[kubectl-quota]") {
  for (const auto& [minor, amount] : {std::pair{36, "/web,400m"}, std::pair{37, "/web,300m"}}) {
    CAPTURE(minor);
    Plugin plugin;
    plugin.cluster.minor = minor;
    const Told told = AskWho(plugin);
    CHECK_THAT(told.output, Contains(amount));
    CHECK(told.warnings.empty());
  }
}

TEST_CASE("who: a server that does not tell its version is a warning", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.minor = 37;
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/version") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  const Told told = AskWho(plugin);
  CHECK_THAT(told.output, Contains("/web,400m"));
  CHECK_THAT(told.warnings, Contains("counted as before Kubernetes 1.37"));
}

TEST_CASE("report and suggest: a pod that is being resized counts as the server's version does",
          "[kubectl-quota]") {
  for (const auto& [minor, amount, suggested] : {std::tuple{36, "400m", "requests.cpu: 400m"},
                                                 std::tuple{37, "300m", "requests.cpu: 300m"}}) {
    CAPTURE(minor);
    Plugin plugin;
    plugin.cluster.minor = minor;
    plugin.Put(kPods, kSwapping);
    CHECK_THAT(plugin.Ask({"report", "-o", "html"}).output, Contains(amount));
    CHECK_THAT(plugin.Ask({"suggest", "--headroom", "0%"}).output, Contains(suggested));
  }
}

TEST_CASE("check: a resized pod that a rollout replaces frees what the server's version counts",
          "[kubectl-quota]") {
  const auto set = [](const std::string& cpu) {
    return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: shop, uid: "
           "web}, spec: {replicas: 1, template: {spec: {containers: [{name: c, resources: "
           "{requests: {cpu: " +
           cpu + "}}}]}}}, status: {replicas: 1}}";
  };
  for (const auto& [minor, asked] :
       {std::pair{36, "400m     100m "}, std::pair{37, "400m     200m "}}) {
    CAPTURE(minor);
    Plugin plugin;
    plugin.cluster.minor = minor;
    plugin.cluster.Serve(kRevisions, "ControllerRevision");
    PutQuota(plugin);
    plugin.Put(kStatefulSets, set("300m"));
    plugin.Put(kPods, kSwapping);
    const Told told = plugin.Ask({"check", "-f", plugin.File("set.yaml", set("500m"))});
    INFO(told.warnings);
    CHECK_THAT(told.output, Contains(asked));
  }
}

TEST_CASE("check and why: the QoS class of a new pod is that of the server's version",
          "[kubectl-quota]") {
  for (const auto& [minor, code] : {std::pair{36, 0}, std::pair{37, 1}}) {
    CAPTURE(minor);
    Plugin plugin;
    plugin.cluster.minor = minor;
    plugin.cluster.Serve(kPods, "Pod");
    plugin.cluster.Serve(kReplicaSets, "ReplicaSet");
    plugin.Put(kQuotas, kFull);
    plugin.Put(kReplicaSets,
               "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop}, "
               "spec: {replicas: 1, template: {spec: " +
                   std::string(kEmptyPodLevel) + "}}}");
    CHECK(plugin.Ask({"check", "-f", PodFile(plugin)}).code == code);
    CHECK(plugin.Ask({"why", "rs/web"}).code == code);
  }
}

TEST_CASE("check: without a cluster the rules are those up to Kubernetes 1.36", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.minor = 37;
  const Told told = plugin.Ask(
      {"check", "-f", PodFile(plugin), "--quota-file", plugin.File("quota.yaml", kFull)});
  INFO(told.output << told.warnings);
  CHECK(told.code == 0);
}

TEST_CASE("check: admin access to devices counts, because the API server's plugin charges it",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string quota = plugin.File("quota.yaml", R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: shop}
spec: {hard: {gpu.deviceclass.resource.k8s.io/devices: "2"}}
)");
  for (const auto& [count, code] : {std::pair{"2", 0}, std::pair{"3", 1}}) {
    CAPTURE(count);
    const std::string claim = plugin.File("claim.yaml", std::string(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: monitor, namespace: shop}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, adminAccess: true,
  allocationMode: ExactCount, count: )") + count + "}}]}}\n");
    const Told told = plugin.Ask({"check", "-f", claim, "--quota-file", quota});
    INFO(told.output << told.warnings);
    CHECK(told.code == code);
  }
}

}  // namespace
}  // namespace kubectl_quota_tests::server_rules_test
