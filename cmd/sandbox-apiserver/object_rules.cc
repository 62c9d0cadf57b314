#include "cmd/sandbox-apiserver/object_rules.h"

#include "cmd/sandbox-apiserver/crd.h"
#include "cmd/sandbox-apiserver/pod_rules.h"
#include "cmd/sandbox-apiserver/resource_lists.h"
#include "cmd/sandbox-apiserver/service_ports.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

void SetDefault(Value& object, std::initializer_list<std::string_view> path, Value fallback) {
  const Value* const present = object.At(path);
  if (present == nullptr || present->IsNull()) object.Make(path) = std::move(fallback);
}

Array* ListAt(Value& object, std::initializer_list<std::string_view> path) {
  Value* const list = FindMember(object, path);
  return list != nullptr ? list->AsArray() : nullptr;
}

void DefaultService(Value& service) {
  SetDefault(service, {"spec", "type"}, "ClusterIP");
  SetDefault(service, {"spec", "sessionAffinity"}, "None");
  const std::string type(service.StringAt({"spec", "type"}));
  if (type != "ExternalName") SetDefault(service, {"spec", "internalTrafficPolicy"}, "Cluster");
  if (type == "NodePort" || type == "LoadBalancer") {
    SetDefault(service, {"spec", "externalTrafficPolicy"}, "Cluster");
  }
  if (type == "LoadBalancer") SetDefault(service, {"spec", "allocateLoadBalancerNodePorts"}, true);
  Array* const ports = ListAt(service, {"spec", "ports"});
  if (ports == nullptr) return;
  for (Value& port : *ports) {
    SetDefault(port, {"protocol"}, "TCP");
    if (const Value* number = port.At({"port"})) {
      const Value copy = *number;
      SetDefault(port, {"targetPort"}, copy);
    }
  }
}

Outcome<void> DefaultClaim(const ResourceType& type, Value& claim) {
  SetDefault(claim, {"spec", "volumeMode"}, "Filesystem");
  for (std::string_view member : {"requests", "limits"}) {
    auto done = NormalizeQuantities(type, FindMember(claim, {"spec", "resources", member}));
    if (!done) return done;
  }
  return NormalizeQuantities(type, FindMember(claim, {"status", "capacity"}));
}

void DefaultWebhooks(const ResourceType& type, Value& configuration) {
  Array* const webhooks = ListAt(configuration, {"webhooks"});
  if (webhooks == nullptr) return;
  for (Value& webhook : *webhooks) {
    SetDefault(webhook, {"failurePolicy"}, "Fail");
    SetDefault(webhook, {"matchPolicy"}, "Equivalent");
    SetDefault(webhook, {"namespaceSelector"}, Object());
    SetDefault(webhook, {"objectSelector"}, Object());
    SetDefault(webhook, {"timeoutSeconds"}, 10);
    if (type.kind.starts_with("Mutating")) SetDefault(webhook, {"reinvocationPolicy"}, "Never");
    if (webhook.At({"clientConfig", "service"}) != nullptr) {
      SetDefault(webhook, {"clientConfig", "service", "port"}, 443);
    }
    Array* const rules = ListAt(webhook, {"rules"});
    if (rules == nullptr) continue;
    for (Value& rule : *rules) SetDefault(rule, {"scope"}, "*");
  }
}

// Workloads: the pod template, and replica counts.
Outcome<void> DefaultWorkload(const ResourceType& type, Value& object) {
  if (base::IsOneOf(type.kind,
                    {"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})) {
    SetDefault(object, {"spec", "replicas"}, 1);
  }
  if (type.kind == "Deployment") {
    SetDefault(object, {"spec", "strategy", "type"}, "RollingUpdate");
    if (object.StringAt({"spec", "strategy", "type"}) == "RollingUpdate") {
      SetDefault(object, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}, "25%");
      SetDefault(object, {"spec", "strategy", "rollingUpdate", "maxSurge"}, "25%");
    }
    SetDefault(object, {"spec", "revisionHistoryLimit"}, 10);
    SetDefault(object, {"spec", "progressDeadlineSeconds"}, 600);
  }
  Value* const pod = FindMember(object, {"spec", "template", "spec"});
  return pod != nullptr ? DefaultPodSpec(type, *pod) : Outcome<void>();
}

Outcome<void> DefaultQuota(const ResourceType& type, Value& quota) {
  for (auto path : {std::pair<const char*, const char*>{"spec", "hard"},
                    {"status", "hard"},
                    {"status", "used"}}) {
    auto done = NormalizeQuantities(type, FindMember(quota, {path.first, path.second}));
    if (!done) return done;
  }
  return {};
}

void DefaultNamespace(Value& ns) {
  const std::string name(ns.StringAt({"metadata", "name"}));
  if (!name.empty()) ns.Make({"metadata", "labels", "kubernetes.io/metadata.name"}) = name;
}

Outcome<void> DefaultCore(const ResourceType& type, Value& object) {
  if (type.resource == "pods") {
    SetDefault(object, {"spec"}, Object());
    return DefaultPodSpec(type, *FindMember(object, {"spec"}));
  }
  if (type.resource == "resourcequotas") return DefaultQuota(type, object);
  if (type.resource == "persistentvolumeclaims") return DefaultClaim(type, object);
  if (type.resource == "services") DefaultService(object);
  if (type.resource == "secrets") SetDefault(object, {"type"}, "Opaque");
  if (type.resource == "namespaces") DefaultNamespace(object);
  return DefaultWorkload(type, object);
}

void SetStatusOnCreate(const ResourceType& type, Value& object) {
  Object& root = *object.AsObject();
  if (type.custom) {
    root.Erase("status");
    return;
  }
  Object status;
  if (type.IsCore("pods")) {
    status.Set("phase", "Pending");
    status.Set("qosClass", QosClass(object));
  } else if (type.IsCore("namespaces")) {
    status.Set("phase", "Active");
  } else if (type.IsCore("persistentvolumeclaims") || type.IsCore("persistentvolumes")) {
    status.Set("phase", "Pending");
  } else if (type.IsCore("services") || type.kind == "Ingress") {
    status.Set("loadBalancer", Object());
  }
  root.Set("status", std::move(status));
}

void Restore(Value& object, const Value& old, std::string_view member) {
  if (const Value* stored = old.At({member})) {
    object.AsObject()->Set(member, *stored);
  } else {
    object.AsObject()->Erase(member);
  }
}

// An update of /status takes only the status from the body; for built-in kinds also the metadata.
void KeepOnlyStatus(const ResourceType& type, Value& object, const Value& old) {
  Value result = old;
  Restore(result, object, "status");
  if (const Value* kind = object.At({"apiVersion"})) result.AsObject()->Set("apiVersion", *kind);
  if (!type.custom) {
    Restore(result, object, "metadata");
  } else if (const Value* managed = object.At({"metadata", "managedFields"})) {
    result.Make({"metadata", "managedFields"}) = *managed;
  }
  object = std::move(result);
}

}  // namespace

Outcome<void> ApplyDefaults(const ResourceType& type, Value& object) {
  if (type.custom) {
    if (type.schema != nullptr) ApplySchemaDefaults(*type.schema, object);
    return {};
  }
  if (type.group.empty()) return DefaultCore(type, object);
  if (type.group == "apiextensions.k8s.io") DefaultCrd(object);
  if (type.group == "admissionregistration.k8s.io") DefaultWebhooks(type, object);
  return DefaultWorkload(type, object);
}

void PrepareForCreate(const ResourceType& type, Value& object) {
  if (type.IsCore("namespaces")) {
    DefaultNamespace(object);  // its name may have been generated meanwhile
    object.Make({"spec", "finalizers"}) = Array{"kubernetes"};
  }
  if (type.status) SetStatusOnCreate(type, object);
}

void PrepareForUpdate(const ResourceType& type, Value& object, const Value& old,
                      std::string_view subresource) {
  if (subresource == "status") {
    KeepOnlyStatus(type, object, old);
    return;
  }
  if (subresource == "resize") {
    KeepOnlyResize(object, old);
    return;
  }
  if (subresource == "finalize") {
    const Value* const wanted = object.At({"spec", "finalizers"});
    const Value finalizers = wanted != nullptr ? *wanted : Value(Array());
    object = old;
    object.Make({"spec", "finalizers"}) = finalizers;
    return;
  }
  if (type.status) Restore(object, old, "status");
  if (type.IsCore("namespaces")) Restore(object, old, "spec");
  // A webhook or client may omit fields that the server has assigned.
  if (type.IsCore("services")) {
    const Value* const address = old.At({"spec", "clusterIP"});
    if (address != nullptr) SetDefault(object, {"spec", "clusterIP"}, *address);
    CarryNodePorts(object, old);
  }
}

FieldErrors ValidateObject(const ResourceType& type, const Value& object) {
  if (type.custom && type.schema != nullptr) return ValidateBySchema(*type.schema, object);
  return type.group == "apiextensions.k8s.io" ? ValidateCrd(object) : FieldErrors();
}

bool SpecChanged(const ResourceType& type, const Value& object, const Value& old) {
  const auto bare = [&](Value value) {
    Object& root = *value.AsObject();
    for (std::string_view member : {"metadata", "apiVersion", "kind"}) root.Erase(member);
    if (type.status) root.Erase("status");
    return value;
  };
  return !(bare(object) == bare(old));
}

bool HasGeneration(const ResourceType& type) {
  if (type.custom || type.group == "apiextensions.k8s.io") return true;
  return base::IsOneOf(
      type.kind, {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController",
                  "Pod", "Job", "CronJob", "Ingress", "NetworkPolicy", "PodDisruptionBudget",
                  "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "PriorityClass",
                  "ResourceSlice"});
}

}  // namespace sandbox
