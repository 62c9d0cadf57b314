#include "cmd/sandbox-apiserver/merge_keys.h"

#include <algorithm>
#include <iterator>

namespace sandbox {
namespace {

struct KeyRow {
  std::string_view field;
  std::string_view key;
};

constexpr KeyRow kRows[] = {
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"volumes", "name"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"imagePullSecrets", "name"},
    {"hostAliases", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"schedulingGates", "name"},
    {"conditions", "type"},
    {"ownerReferences", "uid"},
    {"addresses", "type"},
    {"secrets", "name"},
    {"podIPs", "ip"},
    {"hostIPs", "ip"},
    {"webhooks", "name"},
    {"matchConditions", "name"},
};

bool IsContainerList(std::string_view name) {
  return name == "containers" || name == "initContainers" || name == "ephemeralContainers";
}

}  // namespace

ListRule RuleOfList(std::string_view object_kind, std::string_view parent, std::string_view field) {
  if (field == "finalizers") {
    return parent == "metadata" ? ListRule{ListKind::kSet} : ListRule{};
  }
  if (field == "ports") {
    if (IsContainerList(parent)) return {ListKind::kMap, "containerPort"};
    if (object_kind == "Service" && parent == "spec") return {ListKind::kMap, "port"};
    return {};
  }
  // A pod's claims have the key `name`. A container's resources have an atomic list of another
  // shape.
  if (field == "resourceClaims") {
    return parent == "spec" ? ListRule{ListKind::kMap, "name"} : ListRule{};
  }
  const KeyRow* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                         [&](const KeyRow& r) { return r.field == field; });
  return row == std::end(kRows) ? ListRule{} : ListRule{ListKind::kMap, row->key};
}

}  // namespace sandbox
