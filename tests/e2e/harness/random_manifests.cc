#include "tests/e2e/harness/random_manifests.h"

#include <algorithm>
#include <iterator>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/objects.h"

namespace e2e {

json::Value RandomManifests::Resources() {
  json::Value resources = json::Object();
  if (Chance(70)) resources.Make({"requests", "cpu"}) = Pick({"100m", "0.25", "500m", "1"});
  if (Chance(50)) resources.Make({"requests", "memory"}) = Pick({"64Mi", "1Gi", "100M"});
  if (Chance(35)) resources.Make({"limits", "cpu"}) = Pick({"1", "2", "1500m"});
  if (Chance(35)) resources.Make({"limits", "memory"}) = Pick({"1Gi", "2Gi"});
  return resources;
}

json::Value RandomManifests::Container(const std::string& name) {
  return json::Object{
      {"name", name}, {"image", "registry.invalid/none:1"}, {"resources", Resources()}};
}

json::Value RandomManifests::PodSpec(bool of_job) {
  json::Value spec = json::Object();
  json::Array containers{Container("a")};
  if (Chance(30)) containers.push_back(Container("b"));
  spec.Make({"containers"}) = std::move(containers);
  if (Chance(25)) {
    json::Value init = Container("i");
    if (Chance(50)) init.Make({"restartPolicy"}) = "Always";
    spec.Make({"initContainers"}) = json::Array{std::move(init)};
  }
  if (Chance(15)) spec.Make({"resources", "limits", "cpu"}) = "8";
  if (Chance(25)) spec.Make({"priorityClassName"}) = "quota-check-high";
  if (!priority_class_.empty() && Chance(50)) spec.Make({"priorityClassName"}) = priority_class_;
  if (Chance(20)) spec.Make({"runtimeClassName"}) = "quota-check-heavy";
  if (!runtime_class_.empty() && Chance(50)) spec.Make({"runtimeClassName"}) = runtime_class_;
  if (of_job) spec.Make({"restartPolicy"}) = "Never";
  if (of_job && Chance(40)) spec.Make({"activeDeadlineSeconds"}) = 3600;
  return spec;
}

json::Value RandomManifests::Template(const std::string& app, bool of_job) {
  json::Value pod_template = json::Object();
  if (!of_job) pod_template.Make({"metadata", "labels", "app"}) = app;
  pod_template.Make({"spec"}) = PodSpec(of_job);
  return pod_template;
}

json::Value RandomManifests::Claim(const std::string& name) {
  json::Value claim = NamedObject("v1", "PersistentVolumeClaim", name);
  claim.Make({"spec", "accessModes"}) = json::Array{"ReadWriteOnce"};
  claim.Make({"spec", "resources", "requests", "storage"}) = Pick({"1Gi", "5Gi", "500M"});
  if (Chance(30)) claim.Make({"spec", "storageClassName"}) = "slow";
  if (!storage_class_.empty() && Chance(50)) {
    claim.Make({"spec", "storageClassName"}) = storage_class_;
  }
  return claim;
}

json::Value RandomManifests::Service(const std::string& name) {
  json::Value service = NamedObject("v1", "Service", name);
  service.Make({"spec", "type"}) = Pick({"ClusterIP", "NodePort", "LoadBalancer"});
  json::Array ports{json::Object{{"name", "a"}, {"port", 80}}};
  if (Chance(40)) ports.emplace_back(json::Object{{"name", "b"}, {"port", 81}});
  service.Make({"spec", "ports"}) = std::move(ports);
  if (Chance(50)) service.Make({"spec", "selector", "app"}) = "m0";
  return service;
}

void RandomManifests::SetStrategy(const std::string& kind, json::Value& object) {
  if (kind == "Deployment" && Chance(70)) {
    if (Chance(30)) {
      object.Make({"spec", "strategy", "type"}) = "Recreate";
      return;
    }
    // Of the two not both may be 0.
    json::Value& rolling = object.Make({"spec", "strategy", "rollingUpdate"});
    rolling = json::Object{{"maxSurge", Pick({"1%", "100%", "50%"})}, {"maxUnavailable", 0}};
    if (Chance(40)) rolling.Make({"maxUnavailable"}) = Pick({"25%", "60%"});
    if (Chance(30)) rolling = json::Object{{"maxSurge", Below(3)}, {"maxUnavailable", 1}};
  }
  if (kind == "StatefulSet" && Chance(40)) {
    object.Make({"spec", "updateStrategy"}) = json::Object{{"type", "OnDelete"}};
    if (Chance(60)) {
      json::Value rolling = json::Object{{"type", "RollingUpdate"}};
      rolling.Make({"rollingUpdate", "partition"}) = Below(4);
      object.Make({"spec", "updateStrategy"}) = std::move(rolling);
    }
  }
  if (kind == "DaemonSet" && Chance(50)) {
    object.Make({"spec", "updateStrategy"}) = json::Object{{"type", "OnDelete"}};
    if (Chance(50)) {
      object.Make({"spec", "updateStrategy"}) =
          Json(R"({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1,
          "maxUnavailable": 0}})");
    }
  }
}

json::Value RandomManifests::Workload(const std::string& kind, const std::string& name) {
  const bool of_job = kind == "Job";
  json::Value object = NamedObject(of_job                            ? "batch/v1"
                                   : kind == "ReplicationController" ? "v1"
                                                                     : "apps/v1",
                                   kind, name);
  object.Make({"spec", "template"}) = Template(name, of_job);
  if (of_job) {
    object.Make({"spec", "parallelism"}) = Below(4);
    if (Chance(50)) object.Make({"spec", "completions"}) = 1 + Below(4);
    if (Chance(15)) object.Make({"spec", "suspend"}) = true;
    return object;
  }
  if (kind != "DaemonSet") object.Make({"spec", "replicas"}) = Below(5);
  if (kind == "ReplicationController") {
    object.Make({"spec", "selector", "app"}) = name;
  } else {
    object.Make({"spec", "selector", "matchLabels", "app"}) = name;
  }
  if (kind == "StatefulSet") {
    object.Make({"spec", "podManagementPolicy"}) = Pick({"Parallel", "OrderedReady"});
    object.Make({"spec", "serviceName"}) = name;
    if (Chance(60)) object.Make({"spec", "volumeClaimTemplates"}) = json::Array{Claim("data")};
  }
  if (kind == "Deployment" && Chance(10)) object.Make({"spec", "paused"}) = true;
  if (kind == "DaemonSet" && Chance(50)) {
    object.Make({"spec", "template", "spec", "tolerations"}) =
        json::Array{json::Object{{"operator", "Exists"}}};
  }
  SetStrategy(kind, object);
  return object;
}

json::Value RandomManifests::Autoscaler(const json::Value& target) {
  const std::string name(target.StringAt({"metadata", "name"}));
  json::Value autoscaler =
      NamedObject("autoscaling/v2", "HorizontalPodAutoscaler", name + "-scaler");
  autoscaler.Make({"spec", "scaleTargetRef"}) =
      json::Object{{"apiVersion", target.StringAt({"apiVersion"})},
                   {"kind", target.StringAt({"kind"})},
                   {"name", name}};
  if (Chance(85)) autoscaler.Make({"spec", "minReplicas"}) = 1 + Below(6);
  autoscaler.Make({"spec", "maxReplicas"}) = 40;
  return autoscaler;
}

json::Value RandomManifests::Manifest(int number) {
  const std::string name = "m" + std::to_string(number);
  const std::string kind = Pick({"Deployment", "Deployment", "StatefulSet", "DaemonSet", "Job",
                                 "ReplicaSet", "ReplicationController", "Pod", "Pod", "Claim",
                                 "Service", "ConfigMap", "Secret", "CronJob"});
  if (kind == "Claim") return Claim(name);
  if (kind == "Service") return Service(name);
  if (kind == "ConfigMap" || kind == "Secret") return NamedObject("v1", kind, name);
  if (kind == "Pod") {
    json::Value pod = NamedObject("v1", "Pod", name);
    pod.Make({"spec"}) = PodSpec(Chance(30));
    return pod;
  }
  if (kind == "CronJob") {
    json::Value cron_job = NamedObject("batch/v1", "CronJob", name);
    cron_job.Make({"spec", "schedule"}) = "0 0 29 2 *";
    // The test makes one run of it. No finished ones stay.
    cron_job.Make({"spec", "suspend"}) = Chance(40);
    cron_job.Make({"spec", "successfulJobsHistoryLimit"}) = 0;
    cron_job.Make({"spec", "failedJobsHistoryLimit"}) = 0;
    cron_job.Make({"spec", "jobTemplate", "spec", "template"}) = Template(name, true);
    cron_job.Make({"spec", "jobTemplate", "spec", "parallelism"}) = 1 + Below(3);
    return cron_job;
  }
  return Workload(kind, name);
}

RandomCase RandomManifests::Next(const std::string& ns) {
  RandomCase made;
  AddClasses(ns, made);
  const int quotas = 1 + Below(2);
  for (int i = 0; i < quotas; ++i) made.rules.push_back(Quota(i));
  if (Chance(40)) made.rules.push_back(LimitRange());
  std::vector<json::Value> objects;
  const int manifests = 1 + Below(3);
  objects.reserve(static_cast<std::size_t>(manifests));
  for (int i = 0; i < manifests; ++i) objects.push_back(Manifest(i));
  MakeUnusual(objects);
  std::ranges::move(objects, std::back_inserter(made.manifests));
  AddPolicies(ns, made);
  return made;
}

}  // namespace e2e
