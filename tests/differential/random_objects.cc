#include "tests/differential/random_objects.h"

#include <utility>
#include <vector>

#include "tests/differential/random_quantities.h"

namespace differential {
namespace {

using json::Array;
using json::Object;
using json::Value;

const std::vector<std::string> kResources = {"cpu",
                                             "cpu",
                                             "memory",
                                             "memory",
                                             "ephemeral-storage",
                                             "hugepages-2Mi",
                                             "hugepages-1Gi",
                                             "example.com/gpu",
                                             "vendor.io/fpga",
                                             "deviceclass.resource.kubernetes.io/gold",
                                             "deviceclass.resource.kubernetes.io/a.b",
                                             "deviceclass.resource.kubernetes.io/fpga",
                                             "vendor.io/fpga",
                                             "other.kubernetes.io/thing",
                                             "kubernetes.io/thing",
                                             "requests.example.com/odd",
                                             "limits.example.com/odd",
                                             "count/pods",
                                             "storage",
                                             "pods"};

// The last two are invalid label values: one is too long, one begins with a sign.
const std::vector<std::string> kClasses = {"high", "low", "gold", "system-node-critical", "x.y-z",
                                           "",     "",    "",     std::string(70, 'c'),   "-odd"};

Value RandomAmountValue(Random& random) {
  if (random.Percent(3)) return nullptr;
  if (random.Percent(5))
    return json::Number{random.OneOf({"0.5", "3", "1e3", "10", "0", "1.5e-1"})};
  const std::string amount = RandomAmount(random);
  return random.Percent(2) ? " " + amount + "  " : amount;
}

Value RandomResourceList(Random& random) {
  if (random.Percent(4)) return nullptr;
  Object list;
  for (std::size_t n = random.Below(5); n > 0; --n) {
    list.Set(random.OneOf(kResources), RandomAmountValue(random));
  }
  return list;
}

Value RandomResources(Random& random) {
  Object resources;
  if (random.Percent(70)) resources.Set("requests", RandomResourceList(random));
  if (random.Percent(50)) resources.Set("limits", RandomResourceList(random));
  return resources;
}

Array RandomContainers(Random& random, const std::string& prefix, std::size_t most, bool init) {
  Array containers;
  for (std::size_t n = random.Below(most + 1); n > 0; --n) {
    Object container{{"name", prefix + std::to_string(n)}, {"image", "i"}};
    if (random.Percent(85)) container.Set("resources", RandomResources(random));
    if (init && random.Percent(45)) {
      container.Set("restartPolicy", random.OneOf({"Always", "Always", "OnFailure"}));
    }
    containers.emplace_back(std::move(container));
  }
  return containers;
}

// The actual resources of some of the containers.
Array RandomStatuses(Random& random, const Array& containers) {
  Array statuses;
  for (const Value& container : containers) {
    if (random.Percent(25)) continue;
    Object status{{"name", container.StringAt({"name"})}, {"ready", true}};
    if (random.Percent(70)) status.Set("resources", RandomResources(random));
    if (random.Percent(5)) status.Set("resources", nullptr);
    if (random.Percent(40)) status.Set("allocatedResources", RandomResourceList(random));
    statuses.emplace_back(std::move(status));
  }
  return statuses;
}

Array RandomConditions(Random& random) {
  Array conditions;
  for (std::size_t n = random.Below(4); n > 0; --n) {
    conditions.emplace_back(
        Object{{"type", random.OneOf({"PodResizePending", "PodResizeInProgress", "Ready"})},
               {"reason", random.OneOf({"Infeasible", "Infeasible", "Deferred", ""})},
               {"status", "True"}});
  }
  return conditions;
}

Object RandomAffinityTerm(Random& random) {
  Object term{{"topologyKey", "zone"}};
  if (random.Percent(30)) {
    term.Set("namespaces", random.Percent(40) ? Value(Array{"other"})
                                              : (random.Percent(50) ? Value(Array{}) : Value()));
  }
  if (random.Percent(30)) {
    term.Set("namespaceSelector",
             random.Percent(40)
                 ? Value(Object{})
                 : (random.Percent(50) ? Value() : Value(Object{{"matchLabels", Object{}}})));
  }
  if (random.Percent(30)) term.Set("labelSelector", Object{});
  return term;
}

Object RandomAffinity(Random& random) {
  Object affinity;
  for (const char* kind : {"podAffinity", "podAntiAffinity", "nodeAffinity"}) {
    if (random.Percent(50)) continue;
    Object& terms = *(affinity[kind] = Object()).AsObject();
    if (std::string_view(kind) == "nodeAffinity") continue;
    if (random.Percent(60)) {
      terms.Set("requiredDuringSchedulingIgnoredDuringExecution",
                Array{RandomAffinityTerm(random), RandomAffinityTerm(random)});
    }
    if (random.Percent(60)) {
      terms.Set("preferredDuringSchedulingIgnoredDuringExecution",
                Array{Object{{"weight", 1}, {"podAffinityTerm", RandomAffinityTerm(random)}}});
    }
  }
  return affinity;
}

std::string Minute(std::size_t second) {
  return std::string("2024-05-01T10:00:") + (second < 10 ? "0" : "") + std::to_string(second) + "Z";
}

Object RandomPodMetadata(Random& random) {
  Object metadata{{"name", "p"}, {"namespace", "n"}};
  if (random.Percent(20)) metadata.Set("deletionTimestamp", Minute(random.Below(20)));
  if (random.Percent(20)) {
    const std::int64_t grace = static_cast<std::int64_t>(random.Below(30));
    metadata.Set("deletionGracePeriodSeconds",
                 random.Percent(5) ? std::int64_t{86'400} * 365 * 10 : grace);
  }
  return metadata;
}

void SetPodScopes(Random& random, Object& spec) {
  if (random.Percent(40)) spec.Set("priorityClassName", random.OneOf(kClasses));
  if (random.Percent(30)) spec.Set("affinity", RandomAffinity(random));
  if (random.Percent(30)) {
    constexpr std::int64_t kDeadlines[] = {-1, 0, 1, 600};
    spec.Set("activeDeadlineSeconds", kDeadlines[random.Below(4)]);
  }
  if (random.Percent(3)) spec.Set("activeDeadlineSeconds", nullptr);
}

void SetVolumeClass(Random& random, Object& holder, std::string_view field, std::size_t chance) {
  if (random.Percent(chance)) holder.Set(field, random.OneOf(kClasses));
}

Object RandomStorage(Random& random, std::string_view other) {
  Object storage;
  if (random.Percent(80)) storage.Set("storage", RandomAmountValue(random));
  if (random.Percent(10)) storage.Set(other, RandomAmountValue(random));
  return storage;
}

Object RandomDeviceRequest(Random& random) {
  Object request{{"deviceClassName", random.OneOf({"gold", "gpu", "a.b", "fpga"})}};
  if (random.Percent(90)) {
    request.Set("allocationMode",
                random.OneOf({"ExactCount", "ExactCount", "ExactCount", "All", "Someday", ""}));
  }
  if (random.Percent(80)) {
    constexpr std::int64_t kHuge = 9'223'372'036'854'775'807;
    request.Set("count", random.Percent(3) ? kHuge : static_cast<std::int64_t>(random.Below(50)));
  }
  if (random.Percent(25)) request.Set("adminAccess", random.Percent(60));
  return request;
}

}  // namespace

Object RandomPod(Random& random) {
  Object spec;
  const Array containers = RandomContainers(random, "c", 3, false);
  const Array init = RandomContainers(random, "i", 4, true);
  spec.Set("containers", containers);
  if (!init.empty()) spec.Set("initContainers", init);
  if (random.Percent(20)) spec.Set("overhead", RandomResourceList(random));
  if (random.Percent(20)) spec.Set("resources", RandomResources(random));
  if (random.Percent(2)) spec.Set("resources", nullptr);
  SetPodScopes(random, spec);
  Object status;
  if (random.Percent(70)) {
    status.Set("phase", random.OneOf({"Running", "Running", "Running", "Pending", "Unknown", "",
                                      "Succeeded", "Failed"}));
  }
  if (random.Percent(20)) {
    status.Set("qosClass", random.OneOf({"BestEffort", "Burstable", "Guaranteed", ""}));
  }
  if (random.Percent(40)) status.Set("conditions", RandomConditions(random));
  if (random.Percent(50)) status.Set("containerStatuses", RandomStatuses(random, containers));
  if (random.Percent(50)) status.Set("initContainerStatuses", RandomStatuses(random, init));
  // What the kubelet reports of the pod as a whole.
  if (random.Percent(35)) status.Set("resources", RandomResources(random));
  if (random.Percent(5)) status.Set("resources", nullptr);
  if (random.Percent(35)) status.Set("allocatedResources", RandomResourceList(random));
  return {{"kind", "Pod"},
          {"metadata", RandomPodMetadata(random)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

Object RandomService(Random& random) {
  Object spec;
  if (random.Percent(90)) {
    spec.Set("type", random.OneOf({"ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer",
                                   "ExternalName", "", "Someday"}));
  }
  if (random.Percent(60)) {
    const bool value = random.Percent(40);
    spec.Set("allocateLoadBalancerNodePorts", random.Percent(10) ? Value() : Value(value));
  }
  if (random.Percent(20)) spec.Set("healthCheckNodePort", 30'000);
  Array ports;
  for (std::size_t n = random.Below(5); n > 0; --n) {
    Object port{{"port", static_cast<std::int64_t>(n)}};
    if (random.Percent(50)) port.Set("nodePort", random.Percent(20) ? 0 : 30'080);
    ports.emplace_back(std::move(port));
  }
  if (random.Percent(90)) spec.Set("ports", random.Percent(5) ? Value() : Value(std::move(ports)));
  return {{"kind", "Service"}, {"metadata", Object{{"name", "s"}}}, {"spec", std::move(spec)}};
}

Object RandomVolumeClaim(Random& random) {
  Object metadata{{"name", "v"}};
  if (random.Percent(25)) {
    Object annotations{{"other", "x"}};
    if (random.Percent(80)) {
      annotations.Set("volume.beta.kubernetes.io/storage-class",
                      random.Percent(10) ? Value() : Value(random.OneOf(kClasses)));
    }
    metadata.Set("annotations", std::move(annotations));
  }
  Object spec;
  if (random.Percent(70)) spec.Set("storageClassName", random.OneOf(kClasses));
  if (random.Percent(5)) spec.Set("storageClassName", nullptr);
  if (random.Percent(90)) {
    spec.Set("resources", Object{{"requests", RandomStorage(random, "example.com/x")},
                                 {"limits", RandomStorage(random, "example.com/x")}});
  }
  SetVolumeClass(random, spec, "volumeAttributesClassName", 50);
  Object status;
  if (random.Percent(40)) status.Set("allocatedResources", RandomStorage(random, "example.com/x"));
  if (random.Percent(20)) status.Set("capacity", RandomStorage(random, "example.com/x"));
  SetVolumeClass(random, status, "currentVolumeAttributesClassName", 40);
  if (random.Percent(30)) {
    Object modify{{"status", "InProgress"}};
    SetVolumeClass(random, modify, "targetVolumeAttributesClassName", 80);
    status.Set("modifyVolumeStatus", random.Percent(5) ? Value() : Value(std::move(modify)));
  }
  return {{"kind", "PersistentVolumeClaim"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

Object RandomDeviceClaim(Random& random) {
  Array requests;
  for (std::size_t n = random.Below(4); n > 0; --n) {
    Object request{{"name", "r" + std::to_string(n)}};
    if (random.Percent(60)) request.Set("exactly", RandomDeviceRequest(random));
    if (random.Percent(45)) {
      Array alternatives;
      for (std::size_t m = random.Below(4); m > 0; --m) {
        alternatives.emplace_back(RandomDeviceRequest(random));
      }
      request.Set("firstAvailable", std::move(alternatives));
    }
    requests.emplace_back(std::move(request));
  }
  Object devices;
  if (random.Percent(95)) devices.Set("requests", std::move(requests));
  return {{"kind", "ResourceClaim"},
          {"metadata", Object{{"name", "d"}}},
          {"spec", Object{{"devices", std::move(devices)}}}};
}

Object RandomConfigMap(Random& random) {
  Object metadata{{"name", "c"}};
  if (random.Percent(30)) metadata.Set("deletionTimestamp", Minute(random.Below(60)));
  return {{"kind", "ConfigMap"}, {"metadata", std::move(metadata)}, {"data", Object{{"a", "b"}}}};
}

std::string RandomQuotaName(Random& random) {
  std::string name = random.OneOf(
      {"", "", "", "", "requests.", "requests.", "limits.", "count/", "gold.", "requests.x."});
  name += random.OneOf({"pods",
                        "cpu",
                        "memory",
                        "ephemeral-storage",
                        "storage",
                        "hugepages-2Mi",
                        "hugepages-",
                        "services",
                        "services.loadbalancers",
                        "services.nodeports",
                        "configmaps",
                        "persistentvolumeclaims",
                        "resourceclaims.resource.k8s.io",
                        "resourceclaims",
                        "example.com/gpu",
                        "example.com/kubernetes.io/x",
                        "x.kubernetes.io/gpu",
                        "deviceclass.resource.kubernetes.io/gold",
                        "deviceclass.resource.kubernetes.io/a.b",
                        "deviceclass.resource.kubernetes.io/fpga",
                        "vendor.io/fpga",
                        "deviceclass.resource.k8s.io/devices",
                        "storageclass.storage.k8s.io/requests.storage",
                        "storageclass.storage.k8s.io/persistentvolumeclaims",
                        ".storageclass.storage.k8s.io/requests.storage",
                        ".deviceclass.resource.k8s.io/devices",
                        "requests.example.com/odd",
                        "deployments.apps",
                        "events",
                        ""});
  return name;
}

Array RandomLimitedNames(Random& random) {
  Array names;
  for (const char* name :
       {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods",
        "ephemeral-storage", "hugepages-2Mi", "requests.example.com/gpu"}) {
    if (random.Percent(20)) names.emplace_back(name);
  }
  return names;
}

Object RandomSelector(Random& random) {
  const bool of_classes = random.Percent(60);
  const char* scope = of_classes
                          ? random.OneOf({"PriorityClass", "VolumeAttributesClass"})
                          : random.OneOf({"Terminating", "NotTerminating", "BestEffort",
                                          "NotBestEffort", "CrossNamespacePodAffinity", "Someday"});
  const bool exists = !of_classes && random.Percent(95);
  Object selector{
      {"scopeName", scope},
      {"operator",
       exists ? "Exists" : random.OneOf({"In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"})}};
  Array values;
  for (std::size_t n = random.Below(4); n > 0; --n) {
    values.emplace_back(random.Percent(10) ? random.OneOf(kClasses)
                                           : random.OneOf({"high", "low", "gold", "x.y-z", ""}));
  }
  if (random.Percent(85)) selector.Set("values", std::move(values));
  return selector;
}

std::string RandomNow(Random& random) { return Minute(random.Below(60)); }

}  // namespace differential
