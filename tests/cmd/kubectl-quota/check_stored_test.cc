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

TEST_CASE("check: a stored claim that grows meets the bounds of its LimitRange",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto claim = [](const std::string& size) {
    return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop, "
           "uid: c}, spec: {resources: {requests: {storage: " +
           size + "}}}}";
  };
  plugin.Put({"", "v1", "persistentvolumeclaims"}, claim("15Gi"));
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {requests.storage: 100Gi}}, status: {hard: {requests.storage: 100Gi}, used: "
             "{requests.storage: 15Gi}}}");
  plugin.Put(kLimitRanges,
             "{metadata: {name: l, namespace: shop}, spec: {limits: [{type: "
             "PersistentVolumeClaim, max: {storage: 10Gi}}]}}");
  const auto check = [&](const std::string& size) {
    return plugin.Ask({"check", "-f", plugin.File("files.yaml", claim(size))});
  };
  const Told grown = check("20Gi");
  CHECK(grown.code == 1);
  CHECK_THAT(grown.output, Contains("maximum storage usage per PersistentVolumeClaim is 10Gi"));
  // Nothing is sent, so nothing is refused.
  CHECK(check("15Gi").code == 0);
}

TEST_CASE("check: beside an exceeded limit a rollout creates nothing", "[kubectl-quota]") {
  Stored plugin("StatefulSet");
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: r, namespace: shop}, spec: "
             "{hard: {pods: 3}}, status: {hard: {pods: 3}, used: {pods: 4}}}");
  const Told told = plugin.Check(Workload("StatefulSet", "i:2"));
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("r       pods       4        0       4       3       no, lacks 1"));
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

TEST_CASE("check: a Deployment grows with its old template before it rolls out",
          "[kubectl-quota]") {
  // The manifest makes four pods of 100m eight of 10m.
  Stored plugin("Deployment");
  plugin.Put(kDeployments,
             "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: "
             "web}, spec: {replicas: 4, template: {spec: {containers: [{name: c, resources: "
             "{requests: {cpu: 100m}}}]}}}, status: {replicas: 4}}");
  const Told told = plugin.Check(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: "
      "{replicas: 8, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
      "10m}}}]}}}}");
  INFO(told.output << told.warnings);
  // Eight old pods, and two new ones.
  CHECK_THAT(told.output, Contains("400m     420m    820m    1       yes\n"));
}

TEST_CASE("check: the status of an export that was applied is no part of it", "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource claims{"", "v1", "persistentvolumeclaims"};
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {requests.storage: 9Gi}}, status: {hard: {requests.storage: 9Gi}, used: "
             "{requests.storage: 5Gi}}}");
  plugin.Put(claims,
             "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d, namespace: shop, "
             "annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"spec\": "
             "{\"resources\": {\"requests\": {\"storage\": \"1Gi\"}}}, \"status\": "
             "{\"allocatedResources\": {\"storage\": \"2Gi\"}}}'}}, spec: {resources: {requests: "
             "{storage: 1Gi}}}, status: {allocatedResources: {storage: 5Gi}}}");
  // Without its status it would free 4Gi for the claim behind it.
  const Told told = plugin.Ask(
      {"check", "-f",
       plugin.File("claims.yaml",
                   "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d, namespace: "
                   "shop}, spec: {resources: {requests: {storage: 1Gi}}}}\n---\n{apiVersion: v1, "
                   "kind: PersistentVolumeClaim, metadata: {name: e, namespace: shop}, spec: "
                   "{resources: {requests: {storage: 6Gi}}}}")});
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
}

TEST_CASE("check: stored Services get slices for new pods, and stored pods count for new Services",
          "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource slices{"discovery.k8s.io", "v1", "endpointslices"};
  plugin.cluster.Serve(kServices, "Service");
  plugin.cluster.Serve(slices, "EndpointSlice");
  const std::string name = "count/endpointslices.discovery.k8s.io";
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
             "spec: {hard: {" +
                 name + ": 9}}, status: {hard: {" + name + ": 9}, used: {" + name + ": 1}}}");
  const auto service = [](const std::string& of) {
    return "{apiVersion: v1, kind: Service, metadata: {name: " + of +
           ", namespace: shop}, spec: {selector: {app: w}, ports: [{port: 80}]}}";
  };
  plugin.Put(kServices, service("old"));
  plugin.Put(slices,
             "{metadata: {name: old-1, namespace: shop, labels: "
             "{kubernetes.io/service-name: old, endpointslice.kubernetes.io/managed-by: "
             "endpointslice-controller.k8s.io}}}");
  for (int i = 0; i < 60; ++i) {
    plugin.Put(kPods, "{metadata: {name: p" + std::to_string(i) +
                          ", namespace: shop, labels: {app: w, of: other}}, status: {phase: "
                          "Running}}");
  }
  const auto web = [](int replicas) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: "
           "{replicas: " +
           std::to_string(replicas) +
           ", template: {metadata: {labels: {app: w, of: web}}, spec: {containers: [{name: c}]}}}}";
  };
  const auto asks = [&](const std::string& files) {
    return plugin.Ask({"check", "-f", plugin.File("files.yaml", files)}).output;
  };
  CHECK(asks(web(40)) == "Yes: no quota limits any of it.\n");
  CHECK_THAT(asks(web(41)), Contains("1        1       2       9       yes\n"));
  CHECK_THAT(asks(web(150)), Contains("1        2       3       9       yes\n"));
  CHECK_THAT(asks(web(41) + "\n---\n" + service("new")), Contains("1        3       4 "));
  CHECK_THAT(asks(service("new")), Contains("1        1       2 "));
  SECTION("labels are texts, also if two of them are one quantity") {
    for (int i = 0; i < 60; ++i) {
      plugin.Put(kPods, "{metadata: {name: p" + std::to_string(i) +
                            ", namespace: shop, labels: {app: w, of: '1'}}, status: {phase: "
                            "Running}}");
    }
    const std::string files = web(41);
    CHECK_THAT(asks(std::string(files).replace(files.find("of: web"), 7, "of: '1000m'")),
               Contains("1        1       2       9       yes\n"));
  }
  SECTION("which cannot be told without the pods") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/pods")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK(plugin.Ask({"check", "-f", plugin.File("files.yaml", service("new"))}).code == 3);
    plugin.cluster.ForgetFunctions();
  }
}

TEST_CASE("check: a claim that a stored PodGroup has, too, is there already", "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource templates{"resource.k8s.io", "v1", "resourceclaimtemplates"};
  const api::GroupVersionResource groups{"scheduling.k8s.io", "v1alpha2", "podgroups"};
  plugin.cluster.Serve(templates, "ResourceClaimTemplate");
  plugin.cluster.Serve({"resource.k8s.io", "v1", "resourceclaims"}, "ResourceClaim");
  plugin.cluster.Serve(groups, "PodGroup");
  plugin.cluster.Serve({"batch", "v1", "jobs"}, "Job");
  const std::string name = "count/resourceclaims.resource.k8s.io";
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
             "spec: {hard: {" +
                 name + ": 9}}, status: {hard: {" + name + ": 9}, used: {" + name + ": 1}}}");
  plugin.Put(templates,
             "{apiVersion: resource.k8s.io/v1, metadata: {name: gpu, namespace: shop}, spec: "
             "{spec: {devices: "
             "{requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}");
  plugin.Put(groups,
             "{metadata: {name: g, namespace: shop}, spec: {resourceClaims: [{name: a, "
             "resourceClaimTemplateName: gpu}]}}");
  const auto asks = [&](const std::string& group, const std::string& claim) {
    const auto told = plugin.Ask(
        {"check", "-f",
         plugin.File("job.yaml",
                     "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: shop}, "
                     "spec: {parallelism: 4, template: {spec: {schedulingGroup: {podGroupName: " +
                         group + "}, resourceClaims: [{name: " + claim +
                         ", resourceClaimTemplateName: gpu}], containers: [{name: c}]}}}}")});
    INFO(told.warnings);
    return told.output;
  };
  CHECK(asks("g", "a") == "Yes: no quota limits any of it.\n");
  CHECK_THAT(asks("g", "b"), Contains("1        4       5 "));
  CHECK_THAT(asks("other", "a"), Contains("1        4       5 "));
}

}  // namespace check_stored_test
