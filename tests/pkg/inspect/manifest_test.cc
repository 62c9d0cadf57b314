#include "pkg/inspect/manifest.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "pkg/inspect/node_fit.h"

namespace manifest_test {

using Catch::Matchers::Contains;
using inspect::ReadManifests;

TEST_CASE("manifest: documents and lists are split into objects", "[inspect]") {
  const auto read = ReadManifests(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: List\n"
      "items:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n"
      "- {apiVersion: apps/v1, kind: Deployment, metadata: {generateName: d-}}\n",
      "f.yaml");
  REQUIRE(read.has_value());
  std::string names;
  for (const auto& manifest : *read) {
    names += manifest.where + ": " + inspect::NameOf(manifest.object).ToString() + "\n";
  }
  CHECK(names ==
        "f.yaml, document 1: pod/a\n"
        "f.yaml, document 2, item 1: secret/s\n"
        "f.yaml, document 2, item 2: deployment.apps/d-…\n");
}

TEST_CASE("manifest: an error names its place", "[inspect]") {
  const auto error = [](const char* text) { return ReadManifests(text, "f.yaml").error().message; };
  CHECK_THAT(error("a: b: c\n"), Contains("f.yaml: ") && Contains("line 1"));
  CHECK(error("- 1\n") == "f.yaml: no object: array");
  CHECK(error("kind: Pod\n") == "f.yaml: apiVersion is not set");
  CHECK(error("apiVersion: v1\n") == "f.yaml: kind is not set");
  CHECK(error("apiVersion: v1\nkind: Pod\n---\nx: 1\n") ==
        "f.yaml, document 1: metadata.name is not set");
}

TEST_CASE("manifest: misspelt fields of workloads are found", "[inspect]") {
  const auto unknown = [](const char* text) {
    std::string names;
    for (const auto& name : inspect::CheckFields(*config::ParseYaml(text)).unknown)
      names += name + ";";
    return names;
  };
  CHECK(unknown("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: c, resource: {}}\n  - "
                "{name: d, resources: {request: {}}}\n") ==
        "spec.containers[0].resource;spec.containers[1].resources.request;");
  CHECK(unknown("apiVersion: apps/v1\nkind: Deployment\nspec:\n  replica: 3\n  template: {spec: "
                "{container: []}}\n") == "spec.replica;spec.template.spec.container;");
  CHECK(unknown(
            "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate: {spec: {parallel: 1}}\n") ==
        "spec.jobTemplate.spec.parallel;");
  CHECK(unknown("apiVersion: example.com/v1\nkind: Deployment\nspec: {replica: 3}\n").empty());
}

TEST_CASE("manifest: misplaced fields of workloads are found", "[inspect]") {
  const auto unknown = [](const std::string& kind, const std::string& spec) {
    const std::string group = kind == "CronJob"                                  ? "batch/v1"
                              : kind == "Pod" || kind == "PersistentVolumeClaim" ? "v1"
                                                                                 : "apps/v1";
    std::string names;
    const auto object =
        config::ParseYaml("apiVersion: " + group + "\nkind: " + kind + "\nspec: " + spec);
    for (const auto& name : inspect::CheckFields(*object).unknown) names += name + ";";
    return names;
  };
  CHECK(unknown("Deployment", "{template: {replicas: 3, metadata: {}, containers: []}}") ==
        "spec.template.replicas;spec.template.containers;");
  CHECK(unknown("Deployment", "{strategy: {maxSurge: 1, rollingUpdate: {surge: 1}}}") ==
        "spec.strategy.maxSurge;spec.strategy.rollingUpdate.surge;");
  CHECK(
      unknown("CronJob", "{jobTemplate: {parallelism: 2, spec: {template: {restartPolicy: x}}}}") ==
      "spec.jobTemplate.parallelism;spec.jobTemplate.spec.template.restartPolicy;");
  CHECK(unknown("Pod", "{resourceClaims: [{name: a, resourceClaimTemplate: b}]}") ==
        "spec.resourceClaims[0].resourceClaimTemplate;");
  const std::string requests = "spec: {requests: {storage: 1Gi}}";
  CHECK(unknown("Pod", "{volumes: [{name: a, emptyDir: {}}, {ephemeral: {volumeClaimTemplate: {" +
                           requests + "}}}]}") ==
        "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.requests;");
  CHECK(unknown("StatefulSet", "{ordinals: {first: 1}, volumeClaimTemplates: [{metadata: {}, " +
                                   requests + "}]}") ==
        "spec.ordinals.first;spec.volumeClaimTemplates[0].spec.requests;");
  CHECK(unknown("PersistentVolumeClaim", "{requests: {storage: 1Gi}}") == "spec.requests;");
}

TEST_CASE("manifest: values of a wrong type are found", "[inspect]") {
  const auto mistyped = [](const char* text) {
    std::string findings;
    for (const auto& finding : inspect::CheckFields(*config::ParseYaml(text)).mistyped) {
      findings += finding + ";";
    }
    return findings;
  };
  CHECK(mistyped("{apiVersion: apps/v1, kind: Deployment, spec: {replicas: \"5\", paused: 1}}") ==
        "spec.replicas must be of type integer, not string;"
        "spec.paused must be of type boolean, not number;");
  CHECK(mistyped("{apiVersion: v1, kind: Pod, spec: {containers: {name: c}}}") ==
        "spec.containers must be of type array, not object;");
  CHECK(
      mistyped("{apiVersion: v1, kind: Pod, spec: {containers: [c, {resources: 1, image: 2}]}}") ==
      "spec.containers[0] must be of type object, not string;"
      "spec.containers[1].resources must be of type object, not number;"
      "spec.containers[1].image must be of type string, not number;");
  CHECK(mistyped("{apiVersion: batch/v1, kind: Job, spec: []}") ==
        "spec must be of type object, not array;");
  CHECK(mistyped("{apiVersion: apps/v1, kind: Deployment, spec: {replicas: null, template: null, "
                 "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 10%}}}}")
            .empty());
  CHECK(
      mistyped("{apiVersion: v1, kind: Pod, spec: {volumes: [{name: a, configMap: {}}]}}").empty());
  CHECK(mistyped("{apiVersion: example.com/v1, kind: Deployment, spec: 1}").empty());
}

TEST_CASE("manifest: amounts that are no quantities are found", "[inspect]") {
  const auto wrong = [](const std::string& kind, const std::string& spec) {
    const std::string group = kind == "StatefulSet" ? "apps/v1" : "v1";
    const auto object =
        config::ParseYaml("{apiVersion: " + group + ", kind: " + kind + ", spec: " + spec + "}");
    std::string fields;
    for (const std::string& text : inspect::CheckFields(*object).mistyped) {
      CHECK_THAT(text, Contains(": quantities must match"));
      fields += text.substr(0, text.find(": ")) + ";";
    }
    return fields;
  };
  CHECK(wrong("PersistentVolumeClaim", "{resources: {requests: {storage: 10GB}}}") ==
        "spec.resources.requests[storage];");
  CHECK(wrong("PersistentVolumeClaim", "{resources: {limits: {storage: 5 Gi, x: 1x}}}") ==
        "spec.resources.limits[storage];spec.resources.limits[x];");
  CHECK(wrong("Pod", "{overhead: {cpu: 1x}, resources: {limits: {memory: 1GB}}}") ==
        "spec.overhead[cpu];spec.resources.limits[memory];");
  CHECK(wrong("Pod", "{containers: [{}, {resources: {requests: {cpu: one}}}]}") ==
        "spec.containers[1].resources.requests[cpu];");
  CHECK(wrong("Pod",
              "{volumes: [{emptyDir: {sizeLimit: 1GB}}, {ephemeral: {volumeClaimTemplate: "
              "{spec: {resources: {requests: {storage: 5GB}}}}}}]}") ==
        "spec.volumes[0].emptyDir.sizeLimit;"
        "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources.requests[storage];");
  CHECK(wrong("StatefulSet",
              "{replicas: 0, volumeClaimTemplates: [{spec: {resources: {requests: {storage: "
              "10GB}}}}]}") == "spec.volumeClaimTemplates[0].spec.resources.requests[storage];");
  CHECK(wrong("Pod",
              "{overhead: {cpu: 1, memory: null, x: 1e3}, volumes: [{emptyDir: {medium: "
              "Memory, sizeLimit: 1Gi}}]}") == "");
}

TEST_CASE("node fit: selector, affinity and taints decide", "[inspect]") {
  const auto runs = [](const char* spec, const char* node) {
    return inspect::DaemonRunsOn(*config::ParseYaml(spec), *config::ParseYaml(node));
  };
  const char* node =
      "metadata: {name: n1, labels: {disk: ssd, cores: \"8\"}}\n"
      "spec: {taints: [{key: dedicated, value: gpu, effect: NoSchedule}, "
      "{key: node.kubernetes.io/not-ready, effect: NoExecute}]}\n";
  const char* plain = "metadata: {name: n2}";
  CHECK(runs("{}", plain));
  CHECK_FALSE(runs("{}", node));
  CHECK(runs("{tolerations: [{operator: Exists}]}", node));
  CHECK(runs("{tolerations: [{key: dedicated, value: gpu}]}", node));
  CHECK_FALSE(runs("{tolerations: [{key: dedicated, value: cpu}]}", node));
  CHECK_FALSE(runs("{nodeSelector: {disk: ssd}}", plain));
  const auto tainted = [&](const std::string& taint) {
    return runs("{}", ("spec: {taints: [" + taint + "]}").c_str());
  };
  CHECK(tainted("{key: node.kubernetes.io/unschedulable, effect: NoSchedule}"));
  CHECK(tainted("{key: node.kubernetes.io/not-ready, effect: NoExecute}"));
  CHECK_FALSE(tainted("{key: node.kubernetes.io/not-ready, effect: NoSchedule}"));
  CHECK_FALSE(tainted("{key: node.kubernetes.io/network-unavailable, effect: NoSchedule}"));
  CHECK(tainted("{key: other, effect: PreferNoSchedule}"));
  const std::string affinity =
      "tolerations: [{operator: Exists}]\naffinity: {nodeAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [";
  const auto with = [&](const std::string& term) { return affinity + term + "]}}}"; };
  CHECK(runs(with("{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}").c_str(), node));
  CHECK(runs(with("{matchExpressions: [{key: cores, operator: Gt, values: [\"4\"]}]}").c_str(),
             node));
  CHECK_FALSE(
      runs(with("{matchExpressions: [{key: disk, operator: DoesNotExist}]}").c_str(), node));
  CHECK(runs(with("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}").c_str(),
             node));
}

}  // namespace manifest_test
