#include "tests/e2e/harness/random_manifests.h"

#include "tests/e2e/harness/api.h"

namespace e2e {
namespace {

json::Value Named(const std::string& api_version, const std::string& kind,
                  const std::string& name) {
  json::Value object = json::Object{{"apiVersion", api_version}, {"kind", kind}};
  object.Make({"metadata", "name"}) = name;
  return object;
}

}  // namespace

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
  if (Chance(20)) spec.Make({"runtimeClassName"}) = "quota-check-heavy";
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
  json::Value claim = Named("v1", "PersistentVolumeClaim", name);
  claim.Make({"spec", "accessModes"}) = json::Array{"ReadWriteOnce"};
  claim.Make({"spec", "resources", "requests", "storage"}) = Pick({"1Gi", "5Gi", "500M"});
  if (Chance(30)) claim.Make({"spec", "storageClassName"}) = "slow";
  return claim;
}

json::Value RandomManifests::Service(const std::string& name) {
  json::Value service = Named("v1", "Service", name);
  service.Make({"spec", "type"}) = Pick({"ClusterIP", "NodePort", "LoadBalancer"});
  json::Array ports{json::Object{{"name", "a"}, {"port", 80}}};
  if (Chance(40)) ports.emplace_back(json::Object{{"name", "b"}, {"port", 81}});
  service.Make({"spec", "ports"}) = std::move(ports);
  return service;
}

json::Value RandomManifests::Workload(const std::string& kind, const std::string& name) {
  const bool of_job = kind == "Job";
  json::Value object = Named(of_job                            ? "batch/v1"
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
    object.Make({"spec", "podManagementPolicy"}) = "Parallel";
    object.Make({"spec", "serviceName"}) = name;
    if (Chance(60)) object.Make({"spec", "volumeClaimTemplates"}) = json::Array{Claim("data")};
  }
  if (kind == "Deployment" && Chance(10)) object.Make({"spec", "paused"}) = true;
  if (kind == "DaemonSet" && Chance(50)) {
    object.Make({"spec", "template", "spec", "tolerations"}) =
        json::Array{json::Object{{"operator", "Exists"}}};
  }
  return object;
}

json::Value RandomManifests::Manifest(int number) {
  const std::string name = "m" + std::to_string(number);
  const std::string kind = Pick({"Deployment", "Deployment", "StatefulSet", "DaemonSet", "Job",
                                 "ReplicaSet", "ReplicationController", "Pod", "Pod", "Claim",
                                 "Service", "ConfigMap", "Secret", "CronJob"});
  if (kind == "Claim") return Claim(name);
  if (kind == "Service") return Service(name);
  if (kind == "ConfigMap" || kind == "Secret") return Named("v1", kind, name);
  if (kind == "Pod") {
    json::Value pod = Named("v1", "Pod", name);
    pod.Make({"spec"}) = PodSpec(Chance(30));
    return pod;
  }
  if (kind == "CronJob") {
    json::Value cron_job = Named("batch/v1", "CronJob", name);
    cron_job.Make({"spec", "schedule"}) = "0 0 29 2 *";
    cron_job.Make({"spec", "suspend"}) = true;
    cron_job.Make({"spec", "jobTemplate", "spec", "template"}) = Template(name, true);
    return cron_job;
  }
  return Workload(kind, name);
}

json::Value RandomManifests::Quota(int number) {
  json::Value quota = Named("v1", "ResourceQuota", "quota-" + std::to_string(number));
  const auto limit = [&](const std::string& name, const std::vector<std::string>& amounts) {
    quota.Make({"spec", "hard", name}) = Pick(amounts);
  };
  if (Chance(25)) {
    const std::string scope =
        Pick({"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass"});
    if (scope == "PriorityClass") {
      quota.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{json::Object{
          {"scopeName", scope}, {"operator", "In"}, {"values", json::Array{"quota-check-high"}}}};
    } else {
      quota.Make({"spec", "scopes"}) = json::Array{scope};
    }
    limit("pods", {"0", "2", "5", "9"});
    if (scope != "BestEffort" && Chance(50)) limit("requests.cpu", {"500m", "2", "6"});
    return quota;
  }
  if (Chance(50)) limit("pods", {"2", "5", "9"});
  if (Chance(45)) limit(Pick({"requests.cpu", "cpu"}), {"500m", "2", "6"});
  if (Chance(30)) limit("requests.memory", {"1Gi", "4Gi", "10G"});
  if (Chance(25)) limit("limits.cpu", {"2", "8", "20"});
  if (Chance(20)) limit("limits.memory", {"2Gi", "16Gi"});
  if (Chance(25)) limit("persistentvolumeclaims", {"1", "3"});
  if (Chance(25)) limit("requests.storage", {"1Gi", "8Gi", "20Gi"});
  if (Chance(10)) limit("slow.storageclass.storage.k8s.io/requests.storage", {"1Gi", "9Gi"});
  if (Chance(20)) limit("services.nodeports", {"0", "1", "4"});
  if (Chance(20)) limit("services.loadbalancers", {"0", "1"});
  if (Chance(20)) limit("count/replicasets.apps", {"1", "2"});
  if (Chance(20)) limit("count/controllerrevisions.apps", {"3", "9"});
  if (Chance(20)) limit("count/jobs.batch", {"0", "1"});
  if (Chance(20))
    limit(Pick({"count/deployments.apps", "configmaps", "secrets", "count/pods",
                "count/cronjobs.batch", "replicationcontrollers"}),
          {"0", "1", "4"});
  if (quota.At({"spec", "hard"}) == nullptr) limit("pods", {"4"});
  return quota;
}

json::Value RandomManifests::LimitRange() {
  json::Value range = Named("v1", "LimitRange", "range");
  json::Value item = json::Object{{"type", "Container"}};
  if (Chance(60)) item.Make({"default", "cpu"}) = "1";
  if (Chance(60)) item.Make({"default", "memory"}) = "2Gi";
  if (Chance(60)) item.Make({"defaultRequest", "cpu"}) = "200m";
  if (Chance(30)) item.Make({"max", "cpu"}) = "1500m";
  if (Chance(15)) item.Make({"min", "cpu"}) = "200m";
  if (Chance(10)) item.Make({"maxLimitRequestRatio", "cpu"}) = "4";
  json::Array items{std::move(item)};
  if (Chance(15))
    items.push_back(json::Object{{"type", "Pod"}, {"max", json::Object{{"memory", "2Gi"}}}});
  if (Chance(15)) {
    items.push_back(
        json::Object{{"type", "PersistentVolumeClaim"}, {"max", json::Object{{"storage", "1Gi"}}}});
  }
  range.Make({"spec", "limits"}) = std::move(items);
  return range;
}

std::optional<int> RandomManifests::Growth(const json::Value& manifest) {
  const json::Value* replicas = manifest.At({"spec", "replicas"});
  const bool grows = replicas != nullptr && manifest.At({"spec", "paused"}) == nullptr;
  if (!grows) return std::nullopt;
  return static_cast<int>(replicas->AsInt64().value_or(0)) + Below(6);
}

RandomCase RandomManifests::Next() {
  RandomCase made;
  const int quotas = 1 + Below(2);
  for (int i = 0; i < quotas; ++i) made.rules.push_back(Quota(i));
  if (Chance(40)) made.rules.push_back(LimitRange());
  const int manifests = 1 + Below(3);
  for (int i = 0; i < manifests; ++i) made.manifests.push_back(Manifest(i));
  return made;
}

}  // namespace e2e
