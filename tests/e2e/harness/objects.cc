#include "tests/e2e/harness/objects.h"

namespace e2e {
namespace {

json::Value Named(const char* api_version, const char* kind, const std::string& name) {
  json::Value object;
  object.Make({"apiVersion"}) = api_version;
  object.Make({"kind"}) = kind;
  object.Make({"metadata", "name"}) = name;
  return object;
}

json::Value Container(const Quantities& requests) {
  json::Value container;
  container.Make({"name"}) = "main";
  container.Make({"image"}) = "registry.invalid/none:1";
  if (!requests.empty()) container.Make({"resources", "requests"}) = ToObject(requests);
  return container;
}

// Adds the selector and template of replication controllers and deployments.
void AddTemplate(json::Value& workload) {
  workload.Make({"spec", "replicas"}) = 0;
  workload.Make({"spec", "template", "metadata", "labels", "app"}) = "x";
  workload.Make({"spec", "template", "spec", "containers"}) = json::Array{Container({})};
}

}  // namespace

json::Value NamedObject(const std::string& api_version, const std::string& kind,
                        const std::string& name) {
  json::Value object = json::Object{{"apiVersion", api_version}, {"kind", kind}};
  object.Make({"metadata", "name"}) = name;
  return object;
}

json::Value Namespace(const std::string& name) { return Named("v1", "Namespace", name); }

json::Value Pod(const std::string& name, const Quantities& requests) {
  auto pod = Named("v1", "Pod", name);
  pod.Make({"spec", "containers"}) = json::Array{Container(requests)};
  return pod;
}

json::Value PodOfClass(const std::string& name, const std::string& priority_class) {
  auto pod = Pod(name);
  pod.Make({"spec", "priorityClassName"}) = priority_class;
  return pod;
}

json::Value Quota(const std::string& name, const Quantities& hard) {
  auto quota = Named("v1", "ResourceQuota", name);
  quota.Make({"spec", "hard"}) = ToObject(hard);
  return quota;
}

json::Value Secret(const std::string& name) { return Named("v1", "Secret", name); }

json::Value ConfigMap(const std::string& name) { return Named("v1", "ConfigMap", name); }

json::Value ClusterIpService(const std::string& name) {
  auto service = Named("v1", "Service", name);
  json::Value port;
  port.Make({"port"}) = 80;
  service.Make({"spec", "ports"}) = json::Array{port};
  return service;
}

json::Value Claim(const std::string& name, const std::string& size) {
  auto claim = Named("v1", "PersistentVolumeClaim", name);
  claim.Make({"spec", "accessModes"}) = json::Array{"ReadWriteOnce"};
  claim.Make({"spec", "resources", "requests", "storage"}) = size;
  return claim;
}

json::Value ReplicationController(const std::string& name) {
  auto controller = Named("v1", "ReplicationController", name);
  controller.Make({"spec", "selector", "app"}) = "x";
  AddTemplate(controller);
  return controller;
}

json::Value Deployment(const std::string& name) {
  auto deployment = Named("apps/v1", "Deployment", name);
  deployment.Make({"spec", "selector", "matchLabels", "app"}) = "x";
  AddTemplate(deployment);
  return deployment;
}

json::Value DeploymentOf(const std::string& name, int replicas, const Quantities& requests) {
  auto deployment = Named("apps/v1", "Deployment", name);
  deployment.Make({"spec", "replicas"}) = replicas;
  deployment.Make({"spec", "selector", "matchLabels", "app"}) = name;
  deployment.Make({"spec", "template", "metadata", "labels", "app"}) = name;
  deployment.Make({"spec", "template", "spec", "containers"}) = json::Array{Container(requests)};
  return deployment;
}

json::Value Owned(json::Value object, const json::Value& controller) {
  json::Object reference{{"apiVersion", controller.StringAt({"apiVersion"})},
                         {"kind", controller.StringAt({"kind"})},
                         {"name", controller.StringAt({"metadata", "name"})},
                         {"uid", controller.StringAt({"metadata", "uid"})},
                         {"controller", true}};
  object.Make({"metadata", "ownerReferences"}) = json::Array{std::move(reference)};
  return object;
}

json::Value PriorityClass(const std::string& name, int value) {
  auto priority = Named("scheduling.k8s.io/v1", "PriorityClass", name);
  priority.Make({"value"}) = value;
  return priority;
}

json::Value HardPatch(const Quantities& hard) {
  json::Value patch;
  patch.Make({"spec", "hard"}) = ToObject(hard);
  return patch;
}

json::Value PhasePatch(const std::string& phase) {
  json::Value patch;
  patch.Make({"status", "phase"}) = phase;
  return patch;
}

json::Object ToObject(const Quantities& quantities) {
  json::Object object;
  for (const auto& [name, quantity] : quantities) object.Set(name, quantity);
  return object;
}

Quantities ToQuantities(const json::Value* object) {
  Quantities quantities;
  if (object == nullptr || object->AsObject() == nullptr) return quantities;
  for (const auto& [name, quantity] : *object->AsObject()) {
    const auto* text = quantity.AsString();
    quantities[name] = text == nullptr ? json::Write(quantity) : *text;
  }
  return quantities;
}

std::string Unenforced(const json::Value& quota, const Quantities& hard) {
  const auto used = ToQuantities(quota.At({"status", "used"}));
  const auto shown = ToQuantities(quota.At({"status", "hard"}));
  return shown == hard && used.size() == hard.size() ? "" : json::Write(quota);
}

std::string ToText(const Quantities& quantities) {
  std::string text;
  for (const auto& [name, quantity] : quantities) {
    if (!text.empty()) text += ",";
    text.append(name).append("=").append(quantity);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace e2e
