#include "pkg/quota/core/pod_constraints.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "pkg/base/text.h"
#include "pkg/quota/core/pod_resources.h"

namespace quota::core {
namespace {

// Where in a container's resources a name that can be required must be. Sorted by name.
struct Requirement {
  std::string_view name;
  std::string_view list;
  std::string_view resource;
};

constexpr Requirement kRequirements[] = {
    {"cpu", "requests", "cpu"},
    {"limits.cpu", "limits", "cpu"},
    {"limits.memory", "limits", "memory"},
    {"memory", "requests", "memory"},
    {"requests.cpu", "requests", "cpu"},
    {"requests.memory", "requests", "memory"},
};

// A pod with any pod-level amount is exempt, even if it does not have the name.
bool HasOwnResources(const json::Value& pod) {
  for (const std::string_view list : {"requests", "limits"}) {
    const json::Value* amounts = pod.At({"spec", "resources", list});
    if (amounts == nullptr || !amounts->IsObject()) continue;
    for (const auto& [name, amount] : *amounts->AsObject()) {
      if (IsPodLevelResource(name)) return true;
    }
  }
  return false;
}

// Adds the names of the containers that lack it. A zero is an amount, and so is null, which reads
// as zero.
void FindMissing(const json::Value* containers, const Requirement& required,
                 std::set<std::string>& missing) {
  if (containers == nullptr || !containers->IsArray()) return;
  for (const json::Value& container : *containers->AsArray()) {
    const json::Value* amount = container.At({"resources", required.list, required.resource});
    if (amount == nullptr) missing.emplace(container.StringAt({"name"}));
  }
}

}  // namespace

std::string MissingFromPod(const json::Value& pod, const std::vector<std::string>& names) {
  if (HasOwnResources(pod)) return "";
  const json::Value* const containers = pod.At({"spec", "containers"});
  const json::Value* const init_containers = pod.At({"spec", "initContainers"});
  std::string text;
  for (const Requirement& required : kRequirements) {
    if (std::ranges::find(names, required.name) == names.end()) continue;
    std::set<std::string> missing;
    FindMissing(containers, required, missing);
    FindMissing(init_containers, required, missing);
    if (missing.empty()) continue;
    text += text.empty() ? "must specify " : "; ";
    text.append(required.name).append(" for: ").append(base::Join(missing, ","));
  }
  return text;
}

}  // namespace quota::core
