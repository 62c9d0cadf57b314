#include "pkg/quota/core/pod_scopes.h"

#include <algorithm>
#include <string_view>

namespace quota::core {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// An empty selector selects every namespace, so it crosses namespaces, too.
bool CrossesNamespaces(const json::Value* term) {
  if (term == nullptr) return false;
  const json::Value* namespaces = term->At({"namespaces"});
  const json::Value* selector = term->At({"namespaceSelector"});
  return (namespaces != nullptr && namespaces->IsArray() && !namespaces->AsArray()->empty()) ||
         (selector != nullptr && !selector->IsNull());
}

bool AnyTermCrosses(const json::Value* terms, bool weighted) {
  if (terms == nullptr || !terms->IsArray()) return false;
  return std::ranges::any_of(*terms->AsArray(), [&](const json::Value& term) {
    return CrossesNamespaces(weighted ? term.At({"podAffinityTerm"}) : &term);
  });
}

bool HasCrossNamespaceAffinity(const json::Value& pod) {
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    if (AnyTermCrosses(pod.At({"spec", "affinity", kind, kRequired}), false)) return true;
    if (AnyTermCrosses(pod.At({"spec", "affinity", kind, kPreferred}), true)) return true;
  }
  return false;
}

// The scope Terminating is not about deletion: it means a pod with an active deadline.
base::Result<bool> IsTerminating(const json::Value& pod) {
  const json::Value* deadline = pod.At({"spec", "activeDeadlineSeconds"});
  if (deadline == nullptr || deadline->IsNull()) return false;
  const std::optional<std::int64_t> seconds = deadline->AsInt64();
  if (!seconds) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = "spec.activeDeadlineSeconds: must be an integer"};
  }
  return *seconds >= 0;
}

bool HasBestEffortClass(const json::Value& pod, const PodResources& resources) {
  const std::string_view stored = pod.StringAt({"status", "qosClass"});
  return stored.empty() ? IsBestEffort(resources) : stored == "BestEffort";
}

}  // namespace

std::vector<std::string> PodScopes() {
  return {"BestEffort",    "CrossNamespacePodAffinity",
          "NotBestEffort", "NotTerminating",
          "PriorityClass", "Terminating"};
}

std::vector<std::string> PodScopeFields() {
  std::vector<std::string> fields = {"spec.activeDeadlineSeconds", "spec.priorityClassName",
                                     "status.qosClass"};
  for (const char* kind : {"spec.affinity.podAffinity.", "spec.affinity.podAntiAffinity."}) {
    for (const char* field : {"namespaces", "namespaceSelector"}) {
      fields.push_back(std::string(kind).append(kRequired).append(".").append(field));
      fields.push_back(
          std::string(kind).append(kPreferred).append(".podAffinityTerm.").append(field));
    }
  }
  return fields;
}

base::Result<std::vector<Attribute>> PodAttributes(const json::Value& pod,
                                                   const PodResources& resources) {
  const base::Result<bool> terminating = IsTerminating(pod);
  if (!terminating) return terminating.error();
  std::vector<Attribute> attributes;
  attributes.emplace_back(HasBestEffortClass(pod, resources) ? "BestEffort" : "NotBestEffort", "");
  attributes.emplace_back(*terminating ? "Terminating" : "NotTerminating", "");
  if (HasCrossNamespaceAffinity(pod)) attributes.emplace_back("CrossNamespacePodAffinity", "");
  const std::string_view priority = pod.StringAt({"spec", "priorityClassName"});
  if (!priority.empty()) attributes.emplace_back("PriorityClass", priority);
  std::sort(attributes.begin(), attributes.end());
  return attributes;
}

}  // namespace quota::core
