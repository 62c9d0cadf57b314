// Pods: counted, and measured by their requests and limits until they have finished or are long
// past their deletion (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/pods.go).

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/time.h"
#include "pkg/quota/core/extended_resources.h"
#include "pkg/quota/core/pod_constraints.h"
#include "pkg/quota/core/pod_resources.h"
#include "pkg/quota/core/pod_scopes.h"
#include "pkg/quota/evaluator.h"

namespace quota::core::pods {
namespace {

constexpr std::string_view kLimits = "limits.";
constexpr std::array<std::string_view, 3> kCompute = {"cpu", "memory", "ephemeral-storage"};

bool IsCompute(std::string_view name) {
  return std::ranges::find(kCompute, name) != kCompute.end();
}

// A vendor's resource such as "example.com/gpu", or the resource of a device class.
bool IsExtended(std::string_view name) {
  return IsImplicitDeviceClass(name) || (IsForeign(name) && !name.starts_with(kRequestsPrefix));
}

bool Owns(std::string_view name) {
  if (name == "pods" || name == "count/pods" || IsCompute(name)) return true;
  if (IsHugePages(name)) return true;
  if (name.starts_with(kLimits)) return IsCompute(name.substr(kLimits.size()));
  if (!name.starts_with(kRequestsPrefix)) return false;
  const std::string_view resource = name.substr(kRequestsPrefix.size());
  return IsCompute(resource) || IsHugePages(resource) || IsExtendedRequest(name);
}

std::string Prefixed(std::string_view prefix, std::string_view name) {
  return std::string(prefix).append(name);
}

ResourceList UsageOf(Amounts total) {
  ResourceList usage = {{"count/pods", Quantity::FromInt(1)}, {"pods", Quantity::FromInt(1)}};
  // Both in order, and perhaps many.
  std::vector<ResourceList::Item> bare;
  std::vector<ResourceList::Item> prefixed;
  for (auto& [name, request] : std::move(total.requests).Take()) {
    const bool bare_too = IsCompute(name) || IsHugePages(name);
    if (!bare_too && !IsExtended(name)) continue;
    prefixed.emplace_back(Prefixed(kRequestsPrefix, name), request);
    if (bare_too) bare.emplace_back(std::move(name), request);
  }
  for (const auto& [name, limit] : total.limits) {
    if (IsCompute(name)) usage.Set(Prefixed(kLimits, name), limit);
  }
  usage.SetAll(ResourceList::FromItems(std::move(bare)));
  usage.SetAll(ResourceList::FromItems(std::move(prefixed)));
  return usage;
}

// The names under which the pod's usage is unknown, sorted.
std::vector<std::string> UnreadNames(const UnreadAmounts& unread) {
  if (unread.requests.empty() && unread.limits.empty()) return {};
  const auto zeros = [](const std::set<std::string>& names) {
    std::vector<ResourceList::Item> items;
    items.reserve(names.size());
    for (const std::string& name : names) items.emplace_back(name, Quantity());
    return ResourceList::FromItems(std::move(items));
  };
  std::vector<std::string> names;
  for (const auto& [name, amount] : UsageOf({zeros(unread.requests), zeros(unread.limits)})) {
    names.push_back(name);
  }
  std::erase_if(names, [](const auto& name) { return name == "pods" || name == "count/pods"; });
  return names;
}

bool IsFinished(const json::Value& pod) {
  const std::string_view phase = pod.StringAt({"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

// When a pod is deleted without grace, an API server first marks it and removes it milliseconds
// later, and timestamps have whole seconds. Until then the pod is stored and takes its place.
constexpr std::chrono::seconds kRemoval{2};

// When a deleted pod that stays because its node is lost becomes free: the grace period after the
// deletionTimestamp, which itself includes one grace period, and the time for the removal. nullopt
// means never, also for a time beyond the clock's range.
std::optional<base::WallTime> FreeFrom(const json::Value& pod) {
  constexpr std::int64_t kLongestSeconds = std::int64_t{100} * 365 * 24 * 3600;
  const json::Value* grace = pod.At({"metadata", "deletionGracePeriodSeconds"});
  const auto deleted = api::ParseTime(pod.StringAt({"metadata", "deletionTimestamp"}));
  const auto seconds = grace == nullptr ? std::nullopt : grace->AsInt64();
  if (!deleted || !seconds || *seconds < 0 || *seconds > kLongestSeconds) return std::nullopt;
  // Upstream compares with "after": at exactly this time the pod still counts.
  const auto stays = std::chrono::seconds(*seconds) + kRemoval + base::WallTime::duration(1);
  if (*deleted > base::WallTime::max() - stays) return std::nullopt;
  return *deleted + stays;
}

// The claim that the scheduler created for the pod's extended resources, once the status names it.
std::optional<Tie> TieOf(const json::Value& pod) {
  const json::Value* status = pod.At({"status", "extendedResourceClaimStatus"});
  if (status == nullptr || status->IsNull()) return std::nullopt;
  return Tie{.owner = std::nullopt,
             .name = std::string(status->StringAt({"resourceClaimName"})),
             .created = {}};
}

base::Result<ObjectFacts> FactsOf(const json::Value& pod, const ReadOptions& options) {
  const base::Result<PodResources> resources =
      ParsePodResources(pod, options.limited, options.rules);
  if (!resources) return resources.error();
  base::Result<std::vector<Attribute>> attributes = PodAttributes(pod, *resources);
  if (!attributes) return attributes.error();
  Facts stored{.usage = {{"count/pods", Quantity::FromInt(1)}}, .attributes = *attributes};
  const std::optional<base::WallTime> free_from = FreeFrom(pod);
  if (IsFinished(pod) || (free_from && *free_from <= options.now)) {
    return ObjectFacts{.now = std::move(stored), .later = std::nullopt, .tie = TieOf(pod)};
  }
  ObjectFacts facts{.now = {}, .later = std::nullopt, .tie = TieOf(pod)};
  facts.now = {.usage = UsageOf(TotalOf(*resources)),
               .attributes = std::move(*attributes),
               .unread = UnreadNames(resources->unread)};
  facts.flaw = resources->unread.why;
  facts.left_out = resources->left_out;
  if (free_from) facts.later = LaterFacts{.at = *free_from, .facts = std::move(stored)};
  return facts;
}

std::vector<std::string> Fields() {
  std::vector<std::string> fields = PodResourceFields();
  const std::vector<std::string> of_scopes = PodScopeFields();
  fields.insert(fields.end(), of_scopes.begin(), of_scopes.end());
  for (const char* field :
       {"metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "status.phase",
        "status.extendedResourceClaimStatus.resourceClaimName"}) {
    fields.emplace_back(field);
  }
  return fields;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "", .resource = "pods"},
      .owns = Owns,
      .fields = Fields(),
      .scopes = PodScopes(),
      .facts_of = FactsOf,
      .by_rules = true,
      // A pod's resources change only by resize. Any other update can at most move it between the
      // scopes Terminating and NotTerminating.
      .guard = {.updates = true,
                .update_condition = "has(object.spec.activeDeadlineSeconds) != "
                                    "has(oldObject.spec.activeDeadlineSeconds)",
                .subresources = {"resize"},
                .fields = {},
                .constraints = MissingFromPod,
                .shares = IsExtendedRequest},
      .until_ended = "pods",
  };
}

}  // namespace quota::core::pods
