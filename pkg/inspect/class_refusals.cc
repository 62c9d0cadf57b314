#include "pkg/inspect/class_refusals.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "pkg/inspect/containment.h"

namespace inspect {
namespace {

using json::Value;
using Names = std::set<std::string, std::less<>>;

// The API server makes them when it starts, and lets nobody delete them.
constexpr std::string_view kSystemPriorityClasses[] = {"system-node-critical",
                                                       "system-cluster-critical"};

bool IsMissing(std::string_view name, const std::optional<Names>& existing) {
  return existing && !existing->contains(name);
}

// Returns the field of the pod's spec; nullptr if it is absent or null.
const Value* GivenIn(const Value& pod, std::string_view field) {
  const Value* given = pod.At({"spec", field});
  return given == nullptr || given->IsNull() ? nullptr : given;
}

// A RuntimeClass must have a name, also if not all classes are known.
bool NamesNoRuntimeClass(const Value& pod, const Defaults& defaults) {
  if (GivenIn(pod, "runtimeClassName") == nullptr) return false;
  const std::string_view name = pod.StringAt({"spec", "runtimeClassName"});
  return name.empty() || IsMissing(name, defaults.runtime_classes);
}

// Returns the overhead that the pod's RuntimeClass defines, null if it defines none; nullopt if the
// class is not known.
std::optional<Value> DefinedOverhead(const Value& pod, const Defaults& defaults) {
  const std::string_view name = pod.StringAt({"spec", "runtimeClassName"});
  if (name.empty()) return Value();
  const auto found = defaults.overheads.find(name);
  if (found == defaults.overheads.end()) return std::nullopt;
  return found->second;
}

bool AreEqual(const Value& a, const Value& b) {
  return IsContained(a, b, true) && IsContained(b, a, true);
}

}  // namespace

std::vector<std::string> ClassRefusals(const Value& pod, const Defaults& defaults) {
  std::vector<std::string> texts;
  const std::string_view priority = pod.StringAt({"spec", "priorityClassName"});
  const bool of_system =
      std::ranges::find(kSystemPriorityClasses, priority) != std::end(kSystemPriorityClasses);
  if (!priority.empty() && !of_system && IsMissing(priority, defaults.priority_classes)) {
    texts.push_back("no PriorityClass with name " + std::string(priority) + " was found");
  }
  if (NamesNoRuntimeClass(pod, defaults)) {
    texts.push_back("pod rejected: RuntimeClass \"" +
                    std::string(pod.StringAt({"spec", "runtimeClassName"})) + "\" not found");
  }
  const auto defined = DefinedOverhead(pod, defaults);
  const Value* given = GivenIn(pod, "overhead");
  if (given != nullptr && defined && !defined->IsNull() && !AreEqual(*given, *defined)) {
    texts.emplace_back(
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  return texts;
}

std::vector<std::string> OverheadRefusals(const Value& pod, const Defaults& defaults) {
  const auto defined = DefinedOverhead(pod, defaults);
  if (GivenIn(pod, "overhead") == nullptr || !defined || !defined->IsNull()) return {};
  return {"pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"};
}

}  // namespace inspect
