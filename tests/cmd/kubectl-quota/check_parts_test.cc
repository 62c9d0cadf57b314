// `check` tells what adds up to the amount that is asked.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_parts_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};

std::string Deployment(const std::string& replicas, const std::string& image,
                       const std::string& status = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: d}, "
         "spec: {" +
         replicas +
         "strategy: {rollingUpdate: {maxSurge: 1}}, selector: {matchLabels: {a: w}}, template: "
         "{metadata: {labels: {a: w}}, spec: {containers: [{name: c, image: '" +
         image + "', resources: {requests: {cpu: 500m}}}]}}}" + status + "}";
}

constexpr const char* kScaler =
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: "
    "shop}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, "
    "minReplicas: 3, maxReplicas: 9}}";

// The text of the line of this name.
std::string LineOf(const std::string& output, const std::string& name) {
  const std::size_t at = output.find(" " + name + " ");
  return at == std::string::npos ? "" : output.substr(at, output.find('\n', at) - at);
}

}  // namespace

TEST_CASE("check -o wide: every place that adds something names itself", "[kubectl-quota]") {
  Plugin plugin;
  const std::string files =
      std::string("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n") +
      Deployment("", "i:1") + "\n---\n" + kScaler +
      "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: shop}}\n---\n"
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: r, namespace: shop}, spec: "
      "{jobTemplate: {spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
      "1}}}]}}}}}}\n---\n"
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: shop}, spec: "
      "{replicas: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}, "
      "volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: "
      "1Gi}}}}]}}\n---\n"
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: "
      "{a: "
      "w}}}";
  const auto told = plugin.Ask(
      {"check", "-n", "shop", "-o", "wide", "-f", plugin.File("files.yaml", files), "--quota-file",
       plugin.File("quota.yaml",
                   "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
                   "spec: {hard: {pods: 9, requests.cpu: 9, configmaps: 9, "
                   "persistentvolumeclaims: 9, count/jobs.batch: 9, count/replicasets.apps: 9, "
                   "count/controllerrevisions.apps: 9, count/endpointslices.discovery.k8s.io: "
                   "9}}}")});
  INFO(told.output << told.warnings);
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("FITS   ASKED BY"));
  const auto tells = [&](const std::string& name, const std::string& words) {
    CHECK_THAT(LineOf(told.output, name), Catch::EndsWith(words));
  };
  tells("configmaps",
        "yes    namespace/shop: 1 ConfigMap by each new namespace 1; configmap/own: 1");
  tells("pods",
        "deployment.apps/web: 3 pods by horizontalpodautoscaler.autoscaling/web 3; "
        "cronjob.batch/r: 1 pod by one run 1; statefulset.apps/s: 2 pods by its replicas 2");
  tells("requests.cpu",
        "deployment.apps/web: 3 pods by horizontalpodautoscaler.autoscaling/web 1500m; "
        "cronjob.batch/r: 1 pod by one run 1; statefulset.apps/s: 2 pods by its replicas 2");
  tells("persistentvolumeclaims",
        "statefulset.apps/s: 2 PersistentVolumeClaims by its volumeClaimTemplates 2");
  tells("count/jobs.batch", "cronjob.batch/r: 1 Job by one run 1, 4 Jobs by its history limits 4");
  tells("count/replicasets.apps", "deployment.apps/web: 1 ReplicaSet by its template 1");
  tells("count/endpointslices.discovery.k8s.io", "service/web: 1 EndpointSlice by its selector 1");
}

TEST_CASE("check: a rollout tells its surge, also in JSON", "[kubectl-quota]") {
  Plugin plugin;
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {pods: 9}}, status: {hard: {pods: 9}, used: {pods: 1}}}");
  plugin.Put(kDeployments,
             Deployment("replicas: 1, ", "i:1",
                        ", status: {replicas: 1, updatedReplicas: 1, observedGeneration: 1}"));
  const std::string files = plugin.File("files.yaml", Deployment("", "i:2") + "\n---\n" + kScaler);
  plugin.Put({"", "v1", "pods"},
             "{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, "
             "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, "
             "controller: true}]}, spec: {containers: [{name: c, image: 'i:1', resources: "
             "{requests: {cpu: 500m}}}]}, status: {phase: Running}}");
  const auto told = plugin.Ask({"check", "-f", files, "-o", "json"});
  INFO(told.output << told.warnings);
  const auto value = json::Parse(told.output);
  REQUIRE(value.has_value());
  REQUIRE(value->ArrayAt({"items"}).size() == 1);
  const json::Value& line = value->ArrayAt({"items"})[0];
  CHECK(line.StringAt({"asked"}) == "3");
  CHECK(
      json::Write(*line.At({"askedBy"})) ==
      R"([{"object":"deployment.apps/web","part":"pod","by":"its rollout","count":2,"amount":"2"},)"
      R"({"object":"deployment.apps/web","part":"pod","by":"the surge of its rollout","count":1,)"
      R"("amount":"1"}])");
}

TEST_CASE("check: an update tells what it changes, and what it frees for others",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve({"", "v1", "services"}, "Service");
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {services.nodeports: 1}}, status: {hard: {services.nodeports: 1}, used: "
             "{services.nodeports: 1}}}");
  const auto service = [](const std::string& name, const std::string& type) {
    return "{apiVersion: v1, kind: Service, metadata: {name: " + name +
           ", namespace: shop}, spec: {type: " + type + ", ports: [{port: 80}]}}";
  };
  plugin.Put({"", "v1", "services"}, service("a", "NodePort"));
  const auto told = plugin.Ask({"check", "-o", "wide", "-f",
                                plugin.File("files.yaml", service("a", "ClusterIP") + "\n---\n" +
                                                              service("b", "NodePort"))});
  INFO(told.output << told.warnings);
  CHECK(told.code == 0);
}

}  // namespace check_parts_test
