#include "cmd/sandbox-apiserver/printers.h"

#include <algorithm>

#include "cmd/sandbox-apiserver/resource_lists.h"
#include "cmd/sandbox-apiserver/table.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"

namespace sandbox {

const Column kNameColumn{
    "Name", "string", "name",
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
    0};
const Column kAgeColumn{
    "Age", "string", "",
    "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It "
    "is not guaranteed to be set in happens-before order across separate operations. Clients may "
    "not set this value. It is represented in RFC3339 form and is in UTC.",
    0};

namespace {

using json::Array;
using json::Value;

Value Age(const Value& object, base::WallTime now) {
  return AgeOf(object.At({"metadata", "creationTimestamp"}), now);
}

std::int64_t IntAt(const Value& object, std::initializer_list<std::string_view> path) {
  const Value* const value = object.At(path);
  return value != nullptr ? value->AsInt64().value_or(0) : 0;
}

std::size_t SizeAt(const Value& object, std::initializer_list<std::string_view> path) {
  const Value* const value = object.At(path);
  return value != nullptr && value->IsObject() ? value->AsObject()->size() : 0;
}

std::string Or(std::string_view text, std::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

// "a=b,c=d" of a map of strings.
std::string Pairs(const Value* map) {
  if (map == nullptr || !map->IsObject() || map->AsObject()->empty()) return "<none>";
  std::string text;
  for (const auto& [name, value] : *map->AsObject()) {
    text += (text.empty() ? "" : ",") + name + "=" + (value.IsString() ? *value.AsString() : "");
  }
  return text;
}

std::string PodStatus(const Value& pod) {
  std::string status = Or(pod.StringAt({"status", "reason"}), pod.StringAt({"status", "phase"}));
  for (const Value& container : pod.ArrayAt({"status", "containerStatuses"})) {
    const std::string waiting(container.StringAt({"state", "waiting", "reason"}));
    const std::string ended(container.StringAt({"state", "terminated", "reason"}));
    if (!waiting.empty() || !ended.empty()) status = waiting.empty() ? ended : waiting;
  }
  return api::IsBeingDeleted(pod) ? "Terminating" : Or(status, "Unknown");
}

Array PodCells(const Value& pod, base::WallTime now) {
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  for (const Value& container : pod.ArrayAt({"status", "containerStatuses"})) {
    const Value* const is_ready = container.At({"ready"});
    if (is_ready != nullptr && is_ready->AsBool().value_or(false)) ++ready;
    restarts += IntAt(container, {"restartCount"});
  }
  const std::size_t all = pod.ArrayAt({"spec", "containers"}).size();
  return {pod.StringAt({"metadata", "name"}),
          std::to_string(ready) + "/" + std::to_string(all),
          PodStatus(pod),
          std::to_string(restarts),
          Age(pod, now),
          Or(pod.StringAt({"status", "podIP"}), "<none>"),
          Or(pod.StringAt({"spec", "nodeName"}), "<none>"),
          Or(pod.StringAt({"status", "nominatedNodeName"}), "<none>"),
          "<none>"};
}

std::string Ports(const Value& service) {
  std::string text;
  for (const Value& port : service.ArrayAt({"spec", "ports"})) {
    text += (text.empty() ? "" : ",") + std::to_string(IntAt(port, {"port"}));
    if (const std::int64_t node = IntAt(port, {"nodePort"})) text += ":" + std::to_string(node);
    text += "/" + Or(port.StringAt({"protocol"}), "TCP");
  }
  return Or(text, "<none>");
}

std::string ExternalAddress(const Value& service) {
  const std::string_view type = service.StringAt({"spec", "type"});
  if (type == "ExternalName") return std::string(service.StringAt({"spec", "externalName"}));
  if (type != "LoadBalancer") return "<none>";
  std::string text;
  for (const Value& ingress : service.ArrayAt({"status", "loadBalancer", "ingress"})) {
    text +=
        (text.empty() ? "" : ",") + Or(ingress.StringAt({"ip"}), ingress.StringAt({"hostname"}));
  }
  return Or(text, "<pending>");
}

Array ServiceCells(const Value& service, base::WallTime now) {
  return {service.StringAt({"metadata", "name"}),
          service.StringAt({"spec", "type"}),
          Or(service.StringAt({"spec", "clusterIP"}), "<none>"),
          ExternalAddress(service),
          Ports(service),
          Age(service, now),
          Pairs(service.At({"spec", "selector"}))};
}

std::string ContainerMember(const Value& object, std::string_view member) {
  std::string text;
  for (const Value& container : object.ArrayAt({"spec", "template", "spec", "containers"})) {
    text += (text.empty() ? "" : ",") + std::string(container.StringAt({member}));
  }
  return text;
}

Array DeploymentCells(const Value& object, base::WallTime now) {
  return {object.StringAt({"metadata", "name"}),
          std::to_string(IntAt(object, {"status", "readyReplicas"})) + "/" +
              std::to_string(IntAt(object, {"spec", "replicas"})),
          IntAt(object, {"status", "updatedReplicas"}),
          IntAt(object, {"status", "availableReplicas"}),
          Age(object, now),
          ContainerMember(object, "name"),
          ContainerMember(object, "image"),
          Pairs(object.At({"spec", "selector", "matchLabels"}))};
}

Array ReplicaCells(const Value& object, base::WallTime now) {
  return {object.StringAt({"metadata", "name"}), IntAt(object, {"spec", "replicas"}),
          IntAt(object, {"status", "replicas"}), IntAt(object, {"status", "readyReplicas"}),
          Age(object, now)};
}

Array NamespaceCells(const Value& object, base::WallTime now) {
  return {object.StringAt({"metadata", "name"}), object.StringAt({"status", "phase"}),
          Age(object, now)};
}

// As printResourceQuota of kubernetes v1.36.3, pkg/printers/internalversion/printers.go.
Array QuotaCells(const Value& quota, base::WallTime now) {
  std::vector<std::string> names;
  const Value* const hard = quota.At({"status", "hard"});
  const Value* const used = quota.At({"status", "used"});
  if (hard != nullptr && hard->IsObject()) {
    for (const auto& [name, value] : *hard->AsObject()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::string requests;
  std::string limits;
  for (const std::string& name : names) {
    std::string& cell = name.starts_with("limits.") ? limits : requests;
    cell += (cell.empty() ? "" : ", ") + name + ": " + QuantityOf(used, name).ToString() + "/" +
            QuantityOf(hard, name).ToString();
  }
  return {quota.StringAt({"metadata", "name"}), requests, limits, Age(quota, now)};
}

Array EventCells(const Value& event, base::WallTime now) {
  const Value* last = event.At({"lastTimestamp"});
  if (last == nullptr || !last->IsString()) last = event.At({"eventTime"});
  if (last == nullptr || !last->IsString()) last = event.At({"metadata", "creationTimestamp"});
  std::string kind(event.StringAt({"involvedObject", "kind"}));
  for (char& c : kind) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return {AgeOf(last, now),
          event.StringAt({"type"}),
          event.StringAt({"reason"}),
          kind + "/" + std::string(event.StringAt({"involvedObject", "name"})),
          event.StringAt({"involvedObject", "fieldPath"}),
          Or(event.StringAt({"source", "component"}), event.StringAt({"reportingComponent"})),
          event.StringAt({"message"}),
          AgeOf(event.At({"firstTimestamp"}), now),
          std::max<std::int64_t>(IntAt(event, {"count"}), 1),
          event.StringAt({"metadata", "name"})};
}

Array ConfigMapCells(const Value& object, base::WallTime now) {
  return {object.StringAt({"metadata", "name"}),
          static_cast<std::int64_t>(SizeAt(object, {"data"}) + SizeAt(object, {"binaryData"})),
          Age(object, now)};
}

Array SecretCells(const Value& object, base::WallTime now) {
  return {object.StringAt({"metadata", "name"}), object.StringAt({"type"}),
          static_cast<std::int64_t>(SizeAt(object, {"data"})), Age(object, now)};
}

std::string AccessModes(const Value& claim) {
  std::string text;
  for (const Value& mode : claim.ArrayAt({"spec", "accessModes"})) {
    const std::string name = mode.IsString() ? *mode.AsString() : "";
    const std::string letters = name == "ReadWriteOnce"      ? "RWO"
                                : name == "ReadOnlyMany"     ? "ROX"
                                : name == "ReadWriteMany"    ? "RWX"
                                : name == "ReadWriteOncePod" ? "RWOP"
                                                             : name;
    text += (text.empty() ? "" : ",") + letters;
  }
  return text;
}

Array ClaimCells(const Value& claim, base::WallTime now) {
  const bool bound = !claim.StringAt({"spec", "volumeName"}).empty();
  return {claim.StringAt({"metadata", "name"}),
          api::IsBeingDeleted(claim) ? "Terminating" : claim.StringAt({"status", "phase"}),
          claim.StringAt({"spec", "volumeName"}),
          bound ? claim.StringAt({"status", "capacity", "storage"}) : "",
          bound ? AccessModes(claim) : "",
          claim.StringAt({"spec", "storageClassName"}),
          Or(claim.StringAt({"spec", "volumeAttributesClassName"}), "<unset>"),
          Age(claim, now),
          Or(claim.StringAt({"spec", "volumeMode"}), "<unset>")};
}

Array LeaseCells(const Value& lease, base::WallTime now) {
  return {lease.StringAt({"metadata", "name"}), lease.StringAt({"spec", "holderIdentity"}),
          Age(lease, now)};
}

constexpr Column Text(const char* name, int priority = 0) {
  return {name, "string", "", "", priority};
}
constexpr Column Integer(const char* name) { return {name, "integer", "", "", 0}; }

struct PrinterRow {
  std::string_view group;
  std::string_view resource;
  Printer printer;
};

std::vector<PrinterRow> MakeRows() {
  const Printer replicas{
      {kNameColumn, Integer("Desired"), Integer("Current"), Integer("Ready"), kAgeColumn},
      ReplicaCells};
  return {
      {"",
       "pods",
       {{kNameColumn, Text("Ready"), Text("Status"), Text("Restarts"), kAgeColumn, Text("IP", 1),
         Text("Node", 1), Text("Nominated Node", 1), Text("Readiness Gates", 1)},
        PodCells}},
      {"",
       "services",
       {{kNameColumn, Text("Type"), Text("Cluster-IP"), Text("External-IP"), Text("Port(s)"),
         kAgeColumn, Text("Selector", 1)},
        ServiceCells}},
      {"", "namespaces", {{kNameColumn, Text("Status"), kAgeColumn}, NamespaceCells}},
      {"",
       "resourcequotas",
       {{kNameColumn,
         {"Request", "string", "",
          "Request represents a minimum amount of cpu/memory that a container may consume.", 0},
         {"Limit", "string", "",
          "Limits control the maximum amount of cpu/memory that a container may use independent of "
          "contention on the node.",
          0},
         kAgeColumn},
        QuotaCells}},
      {"",
       "events",
       {{Text("Last Seen"),
         Text("Type"),
         Text("Reason"),
         Text("Object"),
         Text("Subobject", 1),
         Text("Source", 1),
         Text("Message"),
         Text("First Seen", 1),
         {"Count", "integer", "", "", 1},
         {"Name", "string", "", "", 1}},
        EventCells}},
      {"", "configmaps", {{kNameColumn, Integer("Data"), kAgeColumn}, ConfigMapCells}},
      {"", "secrets", {{kNameColumn, Text("Type"), Integer("Data"), kAgeColumn}, SecretCells}},
      {"",
       "persistentvolumeclaims",
       {{kNameColumn, Text("Status"), Text("Volume"), Text("Capacity"), Text("Access Modes"),
         Text("StorageClass"), Text("VolumeAttributesClass"), kAgeColumn, Text("VolumeMode", 1)},
        ClaimCells}},
      {"", "replicationcontrollers", replicas},
      {"apps", "replicasets", replicas},
      {"apps",
       "deployments",
       {{kNameColumn, Text("Ready"), Integer("Up-to-date"), Integer("Available"), kAgeColumn,
         Text("Containers", 1), Text("Images", 1), Text("Selector", 1)},
        DeploymentCells}},
      {"coordination.k8s.io", "leases", {{kNameColumn, Text("Holder"), kAgeColumn}, LeaseCells}},
  };
}

}  // namespace

const Printer* FindPrinter(const ResourceType& type) {
  static const auto* const rows = new std::vector<PrinterRow>(MakeRows());
  for (const PrinterRow& row : *rows) {
    if (row.group == type.group && row.resource == type.resource) return &row.printer;
  }
  return nullptr;
}

Value AgeOf(const Value* timestamp, base::WallTime now) {
  if (timestamp == nullptr || !timestamp->IsString()) return "<unknown>";
  const auto time = api::ParseTime(*timestamp->AsString());
  if (!time) return "<unknown>";
  return HumanDuration(std::chrono::duration_cast<std::chrono::seconds>(now - *time));
}

}  // namespace sandbox
