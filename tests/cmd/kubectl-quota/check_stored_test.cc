// What a changed workload has already: its pods as they are stored, and its revisions.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_stored_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
const api::GroupVersionResource kRuntimes{"node.k8s.io", "v1", "runtimeclasses"};
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};
const api::GroupVersionResource kSets{"apps", "v1", "replicasets"};
const api::GroupVersionResource kStatefulSets{"apps", "v1", "statefulsets"};
const api::GroupVersionResource kServices{"", "v1", "services"};
const api::GroupVersionResource kRevisions{"apps", "v1", "controllerrevisions"};

std::string Workload(const std::string& kind, const std::string& image,
                     const std::string& spec = "") {
  return "{apiVersion: apps/v1, kind: " + kind +
         ", metadata: {name: web, namespace: shop, uid: web}, spec: {replicas: 4, template: "
         "{spec: {" +
         spec + "containers: [{name: c, image: '" + image + "'}]}}}, status: {replicas: 4}}";
}

// A cluster with four pods of 100m each of a Deployment or a StatefulSet.
class Stored : public Plugin {
 public:
  explicit Stored(const std::string& kind, const std::string& pod_more = "") {
    cluster.Serve(kRevisions, "ControllerRevision");
    Put(kQuotas,
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
        "{requests.cpu: 1}}, status: {hard: {requests.cpu: 1}, used: {requests.cpu: 400m}}}");
    const bool sets = kind == "Deployment";
    Put(sets ? kDeployments : kStatefulSets, Workload(kind, "i:1"));
    Put(sets ? kSets : kRevisions,
        "{metadata: {name: web-1, namespace: shop, uid: web-1, ownerReferences: [{uid: web}]}, "
        "spec: {template: {spec: {containers: [{name: c, image: 'i:1'}]}}}}");
    for (const char* name : {"a", "b", "c", "d"}) {
      Put(kPods, std::string("{metadata: {name: ") + name +
                     ", namespace: shop, labels: {controller-revision-hash: web-1}, "
                     "ownerReferences: [{uid: " +
                     (sets ? "web-1" : "web") + "}]}, spec: {" + pod_more +
                     "containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}");
    }
  }
  Told Check(const std::string& files) { return Ask({"check", "-f", File("files.yaml", files)}); }
};

}  // namespace

TEST_CASE("check: the pods that a rollout replaces count as they are stored", "[kubectl-quota]") {
  const std::string kind = GENERATE("Deployment", "StatefulSet");
  Stored plugin(kind);
  plugin.Put(kLimitRanges,
             "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: "
             "{limits: [{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 400m}}]}}");
  const Told told = plugin.Check(Workload(kind, "i:2"));
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
  // A Deployment creates one new pod before the first old one goes.
  CHECK_THAT(
      told.output,
      Contains(kind == "Deployment"
                   ? "q       requests.cpu   400m     1300m   1700m   1       no, lacks 700m"
                   : "q       requests.cpu   400m     1200m   1600m   1       no, lacks 600m"));
  CHECK(plugin.Check(Workload(kind, "i:1")).code == 0);
}

TEST_CASE("check: an overhead counts as the old pods have it", "[kubectl-quota]") {
  Stored plugin("StatefulSet", "overhead: {cpu: 0}, ");
  plugin.Put(kRuntimes,
             "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: heavy}, handler: "
             "h, overhead: {podFixed: {cpu: 300m}}}");
  const Told told = plugin.Check(Workload("StatefulSet", "i:2", "runtimeClassName: heavy, "));
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("must specify requests.cpu"));
  plugin.Put(kLimitRanges,
             "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: "
             "{limits: [{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 100m}}]}}");
  CHECK_THAT(plugin.Check(Workload("StatefulSet", "i:2", "runtimeClassName: heavy, ")).output,
             Contains("q       requests.cpu   400m     1200m   1600m   1       no, lacks 600m"));
}

TEST_CASE("check: what a rollout frees is not known without its pods", "[kubectl-quota]") {
  Stored plugin("Deployment");
  const std::string hidden = GENERATE("/pods", "/replicasets");
  plugin.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with(hidden)) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  plugin.Put(kLimitRanges,
             "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: "
             "{limits: [{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 100m}}]}}");
  const Told told = plugin.Check(Workload("Deployment", "i:2"));
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("the pods that its rollout replaces cannot be seen"));
  CHECK(plugin.Check(Workload("Deployment", "i:1")).code == 0);
  plugin.cluster.ForgetFunctions();
}

TEST_CASE("check: what one object frees is there for those behind it", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kServices, "Service");
  const auto quota = [](const std::string& used) {
    return "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
           "{hard: {services.loadbalancers: 1}}, status: {hard: {services.loadbalancers: 1}, used: "
           "{services.loadbalancers: " +
           used + "}}}";
  };
  plugin.Put(kQuotas, quota("1"));
  const auto service = [](const std::string& name, const std::string& type) {
    return "---\n{apiVersion: v1, kind: Service, metadata: {name: " + name +
           ", namespace: shop}, spec: {" + type + "ports: [{port: 80}]}}\n";
  };
  const std::string balanced = "type: LoadBalancer, ";
  plugin.Put(kServices, service("a", balanced).substr(4));
  const auto ask = [&](const std::string& files) {
    return plugin.Ask({"check", "-f", plugin.File("files.yaml", files)});
  };
  const Told yes = ask(service("a", "type: ClusterIP, ") + service("b", balanced));
  CHECK(yes.code == 0);
  CHECK_THAT(yes.output,
             Contains("q       services.loadbalancers   1        0       1       1       yes\n"));
  CHECK(ask(service("b", balanced) + service("a", "type: ClusterIP, ")).code == 1);
  SECTION("a field that the manifest omits stays") {
    CHECK(ask(service("a", "") + service("b", balanced)).code == 1);
  }
}

TEST_CASE("check: pods below the partition of a StatefulSet keep their template",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kRevisions, "ControllerRevision");
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {requests.cpu: 9}}, status: {hard: {requests.cpu: 9}, used: {requests.cpu: "
             "400m}}}");
  const std::int64_t start = GENERATE(0, 5);
  const auto set = [&](const std::string& cpu, int replicas, int partition) {
    return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: shop, uid: "
           "web}, spec: {ordinals: {start: " +
           std::to_string(start) + "}, replicas: " + std::to_string(replicas) +
           ", updateStrategy: {rollingUpdate: {partition: " + std::to_string(partition) +
           "}}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: " + cpu +
           "}}}]}}}, status: {replicas: 4}}";
  };
  plugin.Put(kStatefulSets, set("100m", 4, 0));
  for (std::int64_t i = 0; i < 4; ++i) {
    plugin.Put(kPods, "{metadata: {name: web-" + std::to_string(start + i) +
                          ", namespace: shop, labels: {controller-revision-hash: web-1}, "
                          "ownerReferences: [{uid: web}]}, spec: {containers: [{name: c, "
                          "resources: {requests: {cpu: 100m}}}]}}");
  }
  const auto asks = [&](const std::string& files) {
    const auto told = plugin.Ask({"check", "-f", plugin.File("files.yaml", files)});
    INFO(told.warnings);
    return told.output;
  };
  CHECK_THAT(asks(set("300m", 4, 0)), Contains("400m     800m "));
  CHECK_THAT(asks(set("300m", 4, 3)), Contains("400m     200m "));
  CHECK(asks(set("300m", 4, 4)) == "Yes: no quota limits any of it.\n");
  // Two more, of which one is below the partition.
  CHECK_THAT(asks(set("300m", 6, 5)), Contains("400m     400m "));
  CHECK_THAT(asks(set("300m", 6, 9)), Contains("400m     200m "));
  SECTION("also if pods may not be listed") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("/pods") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK_THAT(asks(set("300m", 4, 3)), Contains("400m     200m "));
  }
}

}  // namespace check_stored_test
