// Files that other tools write: exports, typed lists, renderings with repeated objects.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_exports_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

std::string ConfigMap(const std::string& metadata) {
  return "---\n{apiVersion: v1, kind: ConfigMap, metadata: " + metadata + "}\n";
}

}  // namespace

TEST_CASE("check: a new object has no status and nothing else that a server sets",
          "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.CheckFiles(
      "apiVersion: v1\nkind: List\nitems:\n"
      "- {apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: a, "
      "resourceVersion: '7'}, spec: {parallelism: 5, completions: 5, template: "
      "{spec: {containers: [{name: c}]}}}, status: {succeeded: 5, conditions: "
      "[{type: Complete, status: 'True'}]}}\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: p, deletionTimestamp: "
      "'2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1, ownerReferences: "
      "[{uid: x}]}, spec: {containers: [{name: c}]}, status: {phase: "
      "Succeeded}}\n"
      "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, "
      "spec: {resources: {requests: {storage: 1Gi}}}, status: "
      "{allocatedResources: {storage: 5Gi}}}\n",
      "{pods: 9, requests.storage: 9Gi}");
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("pods               0        6       6       9       yes") &&
                              Contains("requests.storage   0        1Gi     1Gi     9Gi     yes"));
}

TEST_CASE("check: what a controller makes of an exported object is counted with it",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string spec = "template: {spec: {containers: [{name: c}]}}";
  const auto owned = [](const std::string& version, const std::string& kind,
                        const std::string& name) {
    return "ownerReferences: [{apiVersion: " + version + ", kind: " + kind + ", name: " + name +
           ", uid: x, controller: true}]";
  };
  const std::string deployment =
      "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 2, " +
      spec + "}}\n";
  const std::string set = "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w-1, " +
                          owned("apps/v1", "Deployment", "w") + "}, spec: {replicas: 2, " + spec +
                          "}}\n";
  const auto pod = [&](const std::string& name) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", " +
           owned("apps/v1", "ReplicaSet", "w-1") + "}, spec: {containers: [{name: c}]}}\n";
  };
  const auto asked = [&](const std::string& files, const std::string& pods,
                         const std::string& sets) {
    const Told told = plugin.CheckFiles(files, "{pods: 9, count/replicasets.apps: 9}");
    CHECK_THAT(told.output, Contains("pods                     0        " + pods + "   ") &&
                                Contains("count/replicasets.apps   0        " + sets + "   "));
  };
  asked(pod("a") + set + pod("b") + deployment, "2", "1");
  asked(set + pod("a"), "2", "1");
  CHECK_THAT(plugin.CheckFiles(pod("a") + pod("b"), "{pods: 9}").output,
             Contains("pods       0        2   "));
  SECTION("but not of an object whose controller is not known") {
    const std::string custom =
        "---\n{apiVersion: x.io/v1, kind: Web, metadata: {name: w}, spec: {a: b}}\n---\n"
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w-1, " +
        owned("x.io/v1", "Web", "w") + "}, spec: {replicas: 2, " + spec + "}}\n";
    asked(custom, "2", "1");
  }
}

TEST_CASE("check: a StatefulSet takes over the claims of the files", "[kubectl-quota]") {
  Plugin plugin;
  const std::string claim_spec = "spec: {resources: {requests: {storage: 1Gi}}}";
  const std::string set =
      "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, "
      "template: {spec: {containers: [{name: c}]}}, volumeClaimTemplates: [{metadata: {name: "
      "data}, " +
      claim_spec + "}]}}\n";
  const auto claim = [&](const std::string& name) {
    return "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + "}, " +
           claim_spec + "}\n";
  };
  const auto asked = [&](const std::string& files) {
    return plugin.CheckFiles(files, "{persistentvolumeclaims: 2, requests.storage: 2Gi}").code;
  };
  CHECK(asked(set) == 0);
  CHECK(asked(set + claim("data-db-1") + claim("data-db-0")) == 0);
  CHECK(asked(claim("data-db-0") + set) == 0);
  CHECK(asked(claim("other") + set) == 1);
}

TEST_CASE("check: of several manifests for one object the last one stands", "[kubectl-quota]") {
  Plugin plugin;
  const std::string thrice = ConfigMap("{name: a}") + ConfigMap("{name: a, namespace: shop}") +
                             ConfigMap("{name: a, labels: {b: c}}");
  const auto asked = [&](const std::string& files, const std::string& count) {
    CHECK_THAT(plugin.CheckFiles(files, "{configmaps: 9}").output,
               Contains("configmaps   0        " + count + "       "));
  };
  asked(thrice, "1");
  asked(thrice + ConfigMap("{name: b}"), "2");
  asked(ConfigMap("{generateName: a}") + ConfigMap("{generateName: a}"), "2");
  SECTION("in any version of its group") {
    const auto web = [](const std::string& version, const std::string& replicas) {
      return "---\n{apiVersion: apps/" + version +
             ", kind: Deployment, metadata: {name: w}, spec: {replicas: " + replicas +
             ", template: {spec: {containers: [{name: c}]}}}}\n";
    };
    CHECK_THAT(plugin.CheckFiles(web("v1", "5") + web("v1beta2", "2"), "{pods: 9}").output,
               Contains("pods       0        2       2"));
  }
}

TEST_CASE("check: items of a typed list have its kind, and null is no item", "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.CheckFiles(
      "{apiVersion: v1, kind: PodList, items: [{metadata: {name: p}, spec: "
      "{containers: [{name: c}]}}]}\n"
      "---\napiVersion: v1\nkind: ConfigMapList\nitems:\n"
      "---\n{apiVersion: v1, kind: List, items: null}\n",
      "{pods: 9, configmaps: 9}");
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("pods       0        1       1") && !Contains("configmaps"));
}

TEST_CASE("check: an object that is in no namespace may name one", "[kubectl-quota]") {
  Plugin plugin;
  const std::string role =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r, "
      "namespace: other}}";
  CHECK(plugin.CheckFiles(role, "{pods: 1}").code == 0);
  CHECK(plugin.CheckFiles(ConfigMap("{name: a, namespace: other}"), "{pods: 1}").code == 2);
  const std::string custom =
      "---\n{apiVersion: x.io/v1, kind: Fleet, metadata: {name: f, namespace: other}}\n";
  CHECK(plugin.CheckFiles(custom, "{pods: 1}").code == 2);
  SECTION("by a definition in the files") {
    const std::string definition =
        "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
        "{name: fleets.x.io}, spec: {group: x.io, scope: Cluster, names: {kind: Fleet, plural: "
        "fleets}}}\n";
    CHECK(plugin.CheckFiles(custom + definition, "{pods: 1}").code == 0);
  }
  SECTION("by the served kinds") {
    plugin.cluster.Serve({"x.io", "v1", "fleets"}, "Fleet", false);
    CHECK(plugin.Ask({"check", "-n", "shop", "-f", plugin.File("f.yaml", custom)}).code == 0);
  }
}

TEST_CASE("check: numbers and booleans are refused where the API has texts", "[kubectl-quota]") {
  Plugin plugin;
  struct Row {
    const char* object;
    const char* told;
  };
  const Row row = GENERATE(
      Row{"{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {version: 1.0}}}",
          "metadata.labels.version must be of type string, not number"},
      Row{"{apiVersion: x.io/v1, kind: Thing, metadata: {name: p, annotations: {live: true}}}",
          "metadata.annotations.live must be of type string, not boolean"},
      Row{"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: "
          "{matchLabels: {a: 1}}}}",
          "spec.selector.matchLabels.a must be of type string, not number"},
      Row{"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {template: "
          "{metadata: "
          "{labels: {a: 1}}}}}",
          "spec.template.metadata.labels.a must be of type string, not number"},
      Row{"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {ssd: true}}}",
          "spec.nodeSelector.ssd must be of type string, not boolean"},
      Row{"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, env: "
          "[{name: PORT, value: 8080}]}]}}",
          "spec.containers[0].env[0].value must be of type string, not number"},
      Row{"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, args: "
          "[5]}]}}",
          "spec.containers[0].args[0] must be of type string, not number"},
      Row{"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, ports: "
          "[{containerPort: '80'}]}]}}",
          "spec.containers[0].ports[0].containerPort must be of type integer, not string"},
      Row{"{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: {a: 5}}",
          "data.a must be of type string, not number"},
      Row{"{apiVersion: v1, kind: Secret, metadata: {name: p}, stringData: {a: true}}",
          "stringData.a must be of type string, not boolean"},
      Row{"{apiVersion: v1, kind: ConfigMap, metadata: {name: p, labels: [a]}}",
          "metadata.labels must be of type object, not array"},
      Row{"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: 5}}}",
          "spec.selector.a must be of type string, not number"});
  const Told told = plugin.CheckFiles(row.object, "{pods: 9}");
  INFO(row.object);
  CHECK(told.code == 2);
  CHECK_THAT(told.warnings, Contains(row.told));
}

TEST_CASE("check: texts are texts, and what is no text elsewhere is no fault", "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.CheckFiles(
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: '1', b: null}, "
      "annotations: "
      "{}}, spec: {containers: [{name: c, env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}], "
      "ports: [{containerPort: 80}]}]}}\n"
      "---\n{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {selector: {a: 1}, "
      "labels: {b: 2}, nodeSelector: {c: 3}}}\n"
      "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: "
      "{minAvailable: 1, selector: {matchLabels: {a: b}}}}\n",
      "{pods: 9}");
  INFO(told.warnings);
  CHECK(told.code == 0);
}

TEST_CASE("check: several manifests for one object are noted", "[kubectl-quota]") {
  Plugin plugin;
  const std::string map =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n---\n";
  const auto told = plugin.CheckFiles(map + map + map, "{configmaps: 2}");
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("note: configmap/a: stands 3 times in the files, and the last "
                                   "one counts\n"));
  CHECK_THAT(plugin.CheckFiles(map, "{configmaps: 2}").output, !Contains("note: "));
}

TEST_CASE("check: an EndpointSlice has up to 100 of the endpoints in the files",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto slices = [&](int replicas, const std::string& label) {
    const auto told = plugin.CheckFiles(
        "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {selector: "
        "{a: "
        "w}}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: "
        "shop}, spec: {replicas: " +
            std::to_string(replicas) + ", template: {metadata: {labels: {a: " + label +
            ", b: x}}, spec: {containers: [{name: c}]}}}}",
        "{count/endpointslices.discovery.k8s.io: 9}");
    return told.output;
  };
  CHECK_THAT(slices(0, "w"), Contains("0        1 "));
  CHECK_THAT(slices(100, "w"), Contains("0        1 "));
  CHECK_THAT(slices(101, "w"), Contains("0        2 "));
  CHECK_THAT(slices(350, "w"), Contains("0        4 "));
  CHECK_THAT(slices(350, "v"), Contains("0        1 "));
}

TEST_CASE("check: a claim that a PodGroup has, too, is created once", "[kubectl-quota]") {
  Plugin plugin;
  const auto claims = [&](const std::string& group, const std::string& name) {
    const auto told = plugin.CheckFiles(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, "
        "namespace: shop}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
        "gpu}}]}}}}\n---\n{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: "
        "{name: g, namespace: shop}, spec: {resourceClaims: [{name: " +
            name +
            ", resourceClaimTemplateName: gpu}]}}\n---\n{apiVersion: batch/v1, kind: Job, "
            "metadata: {name: j, namespace: shop}, spec: {parallelism: 4, template: {spec: "
            "{schedulingGroup: {podGroupName: " +
            group +
            "}, resourceClaims: [{name: a, resourceClaimTemplateName: gpu}], containers: [{name: "
            "c}]}}}}",
        "{count/resourceclaims.resource.k8s.io: 9}");
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    return told.output;
  };
  CHECK_THAT(claims("g", "a"),
             Contains("0        1 ") && Contains("counted once for all its pods"));
  CHECK_THAT(claims("g", "b"), Contains("0        5 "));
  CHECK_THAT(claims("other", "a"), Contains("0        5 "));
}

}  // namespace check_exports_test
