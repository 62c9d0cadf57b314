#include "pkg/inspect/helm.h"

#include <algorithm>
#include <string_view>

#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Value;

// Calls `see` with each word of a list such as "pre-install, pre-upgrade".
void ForWords(std::string_view list, auto see) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, end);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    see(word);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

}  // namespace

HelmPhase HelmPhaseOf(const Value& object) {
  const std::string_view hooks = object.StringAt({"metadata", "annotations", "helm.sh/hook"});
  if (hooks.empty()) return HelmPhase::kWithOthers;
  bool before = false;
  bool after = false;
  bool unknown = false;
  ForWords(hooks, [&](std::string_view hook) {
    before = before || hook == "pre-install" || hook == "pre-upgrade";
    after = after || hook == "post-install" || hook == "post-upgrade";
    const bool never =
        hook.starts_with("test") || hook.ends_with("-delete") || hook.ends_with("-rollback");
    unknown = unknown || (!never && !before && !after);
  });
  if (before != after) return before ? HelmPhase::kBefore : HelmPhase::kAfter;
  return before || unknown ? HelmPhase::kWithOthers : HelmPhase::kNever;
}

bool IsHook(const Value& object) {
  return !object.StringAt({"metadata", "annotations", "helm.sh/hook"}).empty() &&
         HelmPhaseOf(object) != HelmPhase::kNever;
}

bool EndsAsHook(const Value& object) {
  const HelmPhase phase = HelmPhaseOf(object);
  return (phase == HelmPhase::kBefore || phase == HelmPhase::kAfter) &&
         (Is(object, kJob) || Is(object, kPod) || IsDeletedAfterHook(object));
}

bool IsDeletedAfterHook(const Value& object) {
  bool deleted = false;
  ForWords(object.StringAt({"metadata", "annotations", "helm.sh/hook-delete-policy"}),
           [&](std::string_view policy) { deleted = deleted || policy == "hook-succeeded"; });
  return deleted;
}

bool IsOfHelm(const Value& object) {
  return object.StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) == "Helm";
}

}  // namespace inspect
