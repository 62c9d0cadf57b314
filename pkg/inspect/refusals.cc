#include "pkg/inspect/refusals.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/selector.h"
#include "pkg/quota/core/extended_resources.h"
#include "pkg/quota/core/pod_resources.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using quota::Quantity;
using quota::ResourceList;
using quota::core::Amounts;
using quota::core::IsForeign;
using quota::core::kRequestsPrefix;
using quota::core::PodResources;
using Texts = std::vector<std::string>;

// For other resources, requests must equal limits.
bool MayBeOvercommitted(std::string_view name) {
  return !IsForeign(name) && !quota::core::IsHugePages(name);
}

bool IsExtended(std::string_view name) {
  return IsForeign(name) && !name.starts_with(kRequestsPrefix) &&
         api::CheckLabelKey(std::string(kRequestsPrefix).append(name)).empty();
}

std::string Invalid(const std::string& field, std::string_view value, const std::string& why) {
  return field + ": Invalid value: " + json::Quote(value) + ": " + why;
}

std::string Invalid(const std::string& field, const Quantity& value, const std::string& why) {
  return Invalid(field, value.ToString(), why);
}

// "spec.resources.requests[cpu]".
std::string KeyIn(std::string field, const std::string& name) {
  field.append("[").append(name).append("]");
  return field;
}

void AddFlawedName(const std::string& field, const std::string& name, Texts& texts) {
  const bool plain = name.find('/') == std::string::npos;
  const bool standard = name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
                        quota::core::IsHugePages(name);
  if (plain && !standard) {
    texts.push_back(Invalid(field, name, "must be a standard resource for containers"));
  } else if (IsForeign(name) && !IsExtended(name)) {
    texts.push_back(Invalid(field, name, "doesn't follow extended resource name standard"));
  }
}

// Checks each amount alone.
void AddFlawed(const ResourceList& amounts, const std::string& field, Texts& texts) {
  for (const auto& [name, amount] : amounts) {
    const std::string of = KeyIn(field, name);
    AddFlawedName(of, name, texts);
    if (IsExtended(name) && !amount.IsInteger()) {
      texts.push_back(Invalid(of, amount, "must be an integer"));
    }
  }
}

bool Has(const Amounts& amounts, const std::function<bool(std::string_view)>& wanted) {
  const auto is = [&](const auto& item) { return wanted(item.first); };
  return std::ranges::any_of(amounts.requests, is) || std::ranges::any_of(amounts.limits, is);
}

void AddContradictions(const Amounts& amounts, const std::string& field, Texts& texts) {
  for (const auto& [name, request] : amounts.requests) {
    const Quantity* limit = amounts.limits.Find(name);
    if (limit == nullptr && !MayBeOvercommitted(name)) {
      texts.push_back(field +
                      ".limits: Required value: Limit must be set for non overcommitable "
                      "resources");
    }
    if (limit == nullptr || request == *limit) continue;
    const std::string of = name + " limit of " + limit->ToString();
    if (!MayBeOvercommitted(name)) {
      texts.push_back(Invalid(field + ".requests", request, "must be equal to " + of));
    } else if (request > *limit) {
      texts.push_back(Invalid(field + ".requests", request, "must be less than or equal to " + of));
    }
  }
}

// Checks the resources of one container.
void AddFlaws(const Amounts& amounts, const std::string& field, Texts& texts) {
  AddFlawed(amounts.limits, field + ".limits", texts);
  AddFlawed(amounts.requests, field + ".requests", texts);
  AddContradictions(amounts, field, texts);
  const auto basic = [](std::string_view name) { return name == "cpu" || name == "memory"; };
  if (Has(amounts, quota::core::IsHugePages) && !Has(amounts, basic)) {
    texts.push_back(field + ": Forbidden: HugePages require cpu or memory");
  }
}

// Checks that pod-level resources are at least those of the containers.
void AddPodLevel(PodResources pod, const std::string& spec, Texts& texts) {
  const Amounts own = *std::exchange(pod.pod_level, std::nullopt);
  AddContradictions(own, spec + ".resources", texts);
  pod.overhead = {};  // only what containers request is compared
  const Amounts sum = quota::core::TotalOf(pod);
  for (const auto& [name, request] : own.requests) {
    const Quantity of_containers = sum.requests.Get(name);
    if (of_containers <= request) continue;
    texts.push_back(Invalid(KeyIn(spec + ".resources.requests", name), request,
                            "must be greater than or equal to aggregate container requests of " +
                                of_containers.ToString()));
  }
  for (const auto& [name, limit] : own.limits) {
    for (std::size_t i = 0; i < pod.containers.size(); ++i) {
      const Quantity of_container = pod.containers[i].spec.limits.Get(name);
      if (of_container <= limit) continue;
      const std::string field =
          KeyIn(KeyIn(spec + ".resources.containers", std::to_string(i)), name) + ".limits";
      texts.push_back(Invalid(field, of_container,
                              "must be less than or equal to pod limits of " + limit.ToString()));
    }
  }
}

// `spec` is the path of the pod's spec.
Texts ContradictionsIn(const PodResources& pod, const std::string& spec) {
  Texts texts;
  const auto add = [&](const std::vector<quota::core::Container>& containers, const char* list) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      AddFlaws(containers[i].spec, spec + list + "[" + std::to_string(i) + "].resources", texts);
    }
  };
  add(pod.containers, ".containers");
  add(pod.init_containers, ".initContainers");
  if (pod.pod_level) AddPodLevel(pod, spec, texts);
  return texts;
}

// One amount and its bound.
struct Measure {
  const Bounds& bounds;
  const std::string& name;
  const Quantity& bound;
  const Quantity* request;  // nullptr: there is none
  const Quantity* limit;

  [[nodiscard]] std::string Below() const {
    const std::string text = Usage("minimum");
    if (request == nullptr) return text + ".  No request is specified";
    if (*request < bound) return text + ", but request is " + request->ToString();
    if (limit != nullptr && *limit < bound) return text + ", but limit is " + limit->ToString();
    return "";
  }
  [[nodiscard]] std::string Above() const {
    const std::string text = Usage("maximum");
    if (limit == nullptr) return text + ".  No limit is specified";
    if (*limit > bound) return text + ", but limit is " + limit->ToString();
    if (request != nullptr && *request > bound) {
      return text + ", but request is " + request->ToString();
    }
    return "";
  }
  // For claims, whose limits are ignored.
  [[nodiscard]] std::string RequestAbove() const {
    const std::string text = Usage("maximum");
    if (request == nullptr) return text + ".  No request is specified";
    return *request > bound ? text + ", but request is " + request->ToString() : "";
  }
  [[nodiscard]] std::string RatioAbove() const {
    const std::string text = name + " max limit to request ratio per " + bounds.type + " is " +
                             bound.ToString() + ", but ";
    if (request == nullptr || request->IsZero()) {
      return text + "no request is specified or request is 0";
    }
    if (limit == nullptr || limit->IsZero()) return text + "no limit is specified or limit is 0";
    // In floating point and printed with %f, as upstream: the text must be the same.
    const double ratio =
        static_cast<double>(limit->nanos()) / static_cast<double>(request->nanos());
    const double most =
        static_cast<double>(bound.nanos()) / static_cast<double>(quantity::kNanosPerOne);
    if (ratio <= most) return "";
    char digits[64];
    std::snprintf(digits, sizeof(digits), "%f", ratio);
    return text + "provided ratio is " + digits;
  }

 private:
  [[nodiscard]] std::string Usage(const std::string& bound_is) const {
    return bound_is + " " + name + " usage per " + bounds.type + " is " + bound.ToString();
  }
};

void AddText(std::string text, Texts& texts) {
  if (!text.empty()) texts.push_back(std::move(text));
}

void AddBeyond(const Bounds& bounds, const Amounts& amounts, Texts& texts) {
  const bool of_claim = bounds.type == "PersistentVolumeClaim";
  const auto measure = [&](const std::string& name, const Quantity& bound) {
    return Measure{bounds, name, bound, amounts.requests.Find(name), amounts.limits.Find(name)};
  };
  for (const auto& [name, bound] : bounds.min) AddText(measure(name, bound).Below(), texts);
  for (const auto& [name, bound] : bounds.max) {
    AddText(of_claim ? measure(name, bound).RequestAbove() : measure(name, bound).Above(), texts);
  }
  if (of_claim) return;
  for (const auto& [name, bound] : bounds.ratio) AddText(measure(name, bound).RatioAbove(), texts);
}

Texts OfPod(PodResources pod, const std::vector<Bounds>& bounds) {
  Texts texts = ContradictionsIn(pod, "spec");
  // The server validates an object before LimitRanger checks its bounds.
  if (!texts.empty()) return texts;
  pod.overhead = {};  // LimitRanger leaves it out
  const Amounts sum = quota::core::TotalOf(pod);
  for (const Bounds& item : bounds) {
    if (item.type == "Pod") AddBeyond(item, sum, texts);
    if (item.type != "Container") continue;
    for (const auto& container : pod.containers) AddBeyond(item, container.spec, texts);
    for (const auto& container : pod.init_containers) AddBeyond(item, container.spec, texts);
  }
  return texts;
}

Texts OfClaim(const json::Value& claim, const std::vector<Bounds>& bounds) {
  auto requests = quota::ResourceListFrom(claim.At({"spec", "resources", "requests"}), "requests");
  if (!requests) return {};
  Texts texts;
  const Amounts amounts{.requests = std::move(*requests), .limits = {}};
  for (const Bounds& item : bounds) {
    if (item.type == "PersistentVolumeClaim") AddBeyond(item, amounts, texts);
  }
  return texts;
}

// Names of a quota that are not of Kubernetes have a domain.
bool IsQuotaName(std::string_view name) {
  constexpr std::string_view kNames[] = {"configmaps",
                                         "cpu",
                                         "ephemeral-storage",
                                         "limits.cpu",
                                         "limits.ephemeral-storage",
                                         "limits.memory",
                                         "memory",
                                         "persistentvolumeclaims",
                                         "pods",
                                         "replicationcontrollers",
                                         "requests.cpu",
                                         "requests.ephemeral-storage",
                                         "requests.memory",
                                         "requests.storage",
                                         "resourcequotas",
                                         "secrets",
                                         "services",
                                         "services.loadbalancers",
                                         "services.nodeports"};
  return name.find('/') != std::string_view::npos || quota::core::IsHugePages(name) ||
         name.starts_with("requests.hugepages-") ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

Texts OfQuota(const json::Value& quota) {
  Texts texts;
  const json::Value* hard = quota.At({"spec", "hard"});
  if (hard == nullptr || !hard->IsObject()) return texts;
  for (const auto& [name, limit] : *hard->AsObject()) {
    if (IsQuotaName(name)) continue;
    texts.push_back(
        Invalid("spec.hard[" + name + "]", name, "must be a standard resource for quotas"));
  }
  return texts;
}

}  // namespace

base::Result<Bounds> ParseBounds(const json::Value& item) {
  Bounds bounds{.type = std::string(item.StringAt({"type"})), .min = {}, .max = {}, .ratio = {}};
  for (const auto& [member, into] : {std::pair("min", &bounds.min), std::pair("max", &bounds.max),
                                     std::pair("maxLimitRequestRatio", &bounds.ratio)}) {
    auto list = quota::ResourceListFrom(item.At({member}), std::string("spec.limits.") + member);
    if (!list) return list.error();
    *into = std::move(*list);
  }
  return bounds;
}

std::vector<std::string> RefusalsOf(const json::Value& object, const std::vector<Bounds>& bounds) {
  if (api::ApiVersion(object) != "v1") return {};
  if (api::Kind(object) == "PersistentVolumeClaim") return OfClaim(object, bounds);
  if (api::Kind(object) == "ResourceQuota") return OfQuota(object);
  if (api::Kind(object) != "Pod") return {};
  auto resources = quota::core::ParsePodResources(object);
  if (!resources || !resources->unread.why.empty()) return {};
  return OfPod(std::move(*resources), bounds);
}

std::vector<std::string> RefusalsOfTemplate(const json::Value& pod, const std::string& spec) {
  const auto resources = quota::core::ParsePodResources(pod);
  if (!resources || !resources->unread.why.empty()) return {};
  return ContradictionsIn(*resources, spec);
}

}  // namespace inspect
