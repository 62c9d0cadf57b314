#include "pkg/inspect/admitted.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/class_refusals.h"
#include "pkg/inspect/workload_kinds.h"
#include "pkg/quota/core/pod_resources.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

constexpr const char* kContainerLists[] = {"containers", "initContainers"};
// Either one makes a StorageClass the default (kubernetes v1.36.3,
// pkg/volume/util/storageclass.go).
constexpr const char* kDefaultStorageClass[] = {"storageclass.kubernetes.io/is-default-class",
                                                "storageclass.beta.kubernetes.io/is-default-class"};
constexpr const char* kBetaStorageClass = "volume.beta.kubernetes.io/storage-class";

// Returns the object at a member, created if it is absent or null; nullptr for another type.
Object* ObjectIn(Value& value, std::string_view member) {
  Object* object = value.AsObject();
  if (object == nullptr) return nullptr;
  Value& found = (*object)[member];
  if (found.IsNull()) found = Object();
  return found.AsObject();
}

void AddMissing(const Object& from, Object* to) {
  if (to == nullptr) return;
  for (const auto& [name, value] : from) {
    if (!to->Contains(name)) to->Set(name, value);
  }
}

void AddMissing(const Value* from, Object* to) {
  if (from != nullptr && from->IsObject()) AddMissing(*from->AsObject(), to);
}

// Applies the API's defaults to a LimitRange item for containers.
Object WithItemDefaults(const Value& item) {
  Value whole = item;
  Object* limits = ObjectIn(whole, "default");
  AddMissing(item.At({"max"}), limits);
  const Object filled = limits == nullptr ? Object() : *limits;
  Object* requests = ObjectIn(whole, "defaultRequest");
  AddMissing(filled, requests);
  AddMissing(item.At({"min"}), requests);
  return whole.IsObject() ? *whole.AsObject() : Object();
}

template <typename Change>
void ForContainers(Value& pod, Change change) {
  for (const char* list : kContainerLists) {
    Object* spec = ObjectIn(pod, "spec");
    Value* containers = spec == nullptr ? nullptr : spec->Find(list);
    if (containers == nullptr || !containers->IsArray()) continue;
    std::size_t index = 0;
    for (Value& container : *containers->AsArray()) {
      change(container, "spec." + std::string(list) + "[" + std::to_string(index++) + "]");
    }
  }
}

// A resource with a limit and no request requests the limit.
void RequestLimits(Value& container, const std::string&) {
  Value* resources = container.IsObject() ? container.AsObject()->Find("resources") : nullptr;
  if (resources == nullptr || !resources->IsObject()) return;
  const Value* limits = resources->At({"limits"});
  if (limits == nullptr || !limits->IsObject()) return;
  const Object copy = *limits->AsObject();
  AddMissing(copy, ObjectIn(*resources, "requests"));
}

// Returns the sum of the containers, without pod-level resources and overhead.
base::Result<quota::core::Amounts> OfContainers(const Value& pod) {
  auto resources = quota::core::ParsePodResources(pod);
  if (!resources) return resources.error();
  if (!resources->unread.why.empty()) {
    return base::Error{.code = base::ErrorCode::kMalformed, .message = resources->unread.why};
  }
  resources->pod_level.reset();
  resources->overhead = {};
  return quota::core::TotalOf(*resources);
}

void LimitHugePages(const quota::core::Amounts& containers, Value& resources) {
  for (const auto& [name, amount] : containers.limits) {
    const bool asked = resources.At({"requests", name}) != nullptr;
    if (!quota::core::IsHugePages(name) || asked || resources.At({"limits", name}) != nullptr)
      continue;
    resources.Make({"limits", name}) = amount.ToString();
  }
}

// For cpu and memory what the containers request, if they do; otherwise the limit of the pod.
void RequestForPod(const quota::core::Amounts& containers, Value& resources) {
  const Value* limits = resources.At({"limits"});
  if (limits == nullptr || !limits->IsObject() || limits->AsObject()->empty()) return;
  for (const auto& [name, amount] : containers.requests) {
    const bool overcommitted = name == "cpu" || name == "memory";
    if (!overcommitted || resources.At({"requests", name}) != nullptr) continue;
    resources.Make({"requests", name}) = amount.ToString();
  }
  const Object copy = *resources.At({"limits"})->AsObject();
  for (const auto& [name, limit] : copy) {
    if (quota::core::IsPodLevelResource(name) && resources.At({"requests", name}) == nullptr) {
      resources.Make({"requests", name}) = limit;
    }
  }
}

// Pod-level resources are completed only if some are given.
base::Result<void> DefaultPodLevel(Value& pod) {
  const Value* given = pod.At({"spec", "resources"});
  if (given == nullptr || !given->IsObject() || given->AsObject()->empty()) return {};
  const auto containers = OfContainers(pod);
  if (!containers) return containers.error();
  Value& resources = pod.Make({"spec", "resources"});
  LimitHugePages(*containers, resources);
  RequestForPod(*containers, resources);
  return {};
}

base::Result<void> RoundUp(Value& list, const std::string& field) {
  if (!list.IsObject()) return {};
  for (auto& [name, value] : *list.AsObject()) {
    const std::string at = std::string(field).append("[").append(name).append("]");
    const auto amount = quota::QuantityFrom(value, at);
    if (!amount) return amount.error();
    const quota::Quantity rounded = amount->RoundUpToMilli();
    if (rounded != *amount) value = rounded.ToString();
  }
  return {};
}

// The API server rounds amounts up to thousandths.
base::Result<void> RoundUpContainers(Value& pod) {
  base::Result<void> done;
  ForContainers(pod, [&](Value& container, const std::string& field) {
    for (const char* member : {"limits", "requests"}) {
      if (!done || container.At({"resources", member}) == nullptr) continue;
      done = RoundUp(container.Make({"resources", member}), field + ".resources." + member);
    }
  });
  return done;
}

bool IsDefaultClass(const Value& storage) {
  return std::ranges::any_of(kDefaultStorageClass, [&](const char* annotation) {
    return storage.StringAt({"metadata", "annotations", annotation}) == "true";
  });
}

// True for null and for an object without members.
bool IsEmpty(const Value& value) {
  return value.IsNull() || (value.IsObject() && value.AsObject()->empty());
}

void FillClasses(const Defaults& defaults, Value& pod) {
  if (pod.StringAt({"spec", "priorityClassName"}).empty() && !defaults.priority_class.empty()) {
    pod.Make({"spec", "priorityClassName"}) = defaults.priority_class;
  }
  const auto overhead = defaults.overheads.find(pod.StringAt({"spec", "runtimeClassName"}));
  if (overhead == defaults.overheads.end() || overhead->second.IsNull()) return;
  const Value* given = pod.At({"spec", "overhead"});
  if (given == nullptr || IsEmpty(*given)) pod.Make({"spec", "overhead"}) = overhead->second;
}

}  // namespace

base::Result<void> AddLimitRange(const Value& limit_range, Defaults& defaults) {
  for (const Value& item : limit_range.ArrayAt({"spec", "limits"})) {
    auto bounds = ParseBounds(item);
    if (!bounds) return bounds.error();
    defaults.bounds.push_back(std::move(*bounds));
    if (item.StringAt({"type"}) != "Container") continue;
    const Object whole = WithItemDefaults(item);
    for (const auto& [member, into] : {std::pair("default", &defaults.container_limits),
                                       std::pair("defaultRequest", &defaults.container_requests)}) {
      const Value* amounts = whole.Find(member);
      auto valid = quota::ResourceListFrom(amounts, std::string("spec.limits.") + member);
      if (!valid) return valid.error();
      // Of several LimitRanges the first one with a default wins.
      AddMissing(amounts, into);
    }
  }
  return {};
}

void AddRuntimeClass(const Value& runtime_class, Defaults& defaults) {
  const Value* overhead = runtime_class.At({"overhead", "podFixed"});
  const bool defined = overhead != nullptr && overhead->IsObject();
  defaults.overheads[std::string(api::Name(runtime_class))] = defined ? *overhead : Value();
}

std::string DefaultPriorityClass(const std::vector<Value>& classes) {
  const Value* lowest = nullptr;
  const auto value_of = [](const Value& priority) {
    const Value* value = priority.At({"value"});
    return value == nullptr ? 0 : value->AsInt64().value_or(0);
  };
  for (const Value& priority : classes) {
    const Value* flag = priority.At({"globalDefault"});
    if (flag == nullptr || !flag->AsBool().value_or(false)) continue;
    if (lowest == nullptr || value_of(priority) < value_of(*lowest)) lowest = &priority;
  }
  return lowest == nullptr ? "" : std::string(api::Name(*lowest));
}

std::string DefaultStorageClass(const std::vector<Value>& classes) {
  const Value* newest = nullptr;
  const auto rank = [](const Value& storage) {
    return std::pair(storage.StringAt({"metadata", "creationTimestamp"}), api::Name(storage));
  };
  for (const Value& storage : classes) {
    if (!IsDefaultClass(storage)) continue;
    const bool newer =
        newest == nullptr || rank(storage).first > rank(*newest).first ||
        (rank(storage).first == rank(*newest).first && rank(storage).second < rank(*newest).second);
    if (newer) newest = &storage;
  }
  return newest == nullptr ? "" : std::string(api::Name(*newest));
}

base::Result<Value> AdmittedPod(Value pod, const Defaults& defaults) {
  // In the server's order: decoding sets the API's defaults before the plugins run. So a container
  // with a limit requests that limit, and the default request of a LimitRange does not apply.
  if (auto rounded = RoundUpContainers(pod); !rounded) return rounded.error();
  ForContainers(pod, RequestLimits);
  if (auto done = DefaultPodLevel(pod); !done) return done.error();
  const bool limited = !defaults.container_limits.empty() || !defaults.container_requests.empty();
  if (limited) {
    ForContainers(pod, [&](Value& container, const std::string&) {
      if (ObjectIn(container, "resources") == nullptr) return;
      Value& resources = container.Make({"resources"});
      AddMissing(defaults.container_limits, ObjectIn(resources, "limits"));
      AddMissing(defaults.container_requests, ObjectIn(resources, "requests"));
    });
  }
  FillClasses(defaults, pod);
  return pod;
}

Value WithLeastLimits(Value pod) {
  ForContainers(pod, [](Value& container, const std::string&) {
    for (const char* name : {"cpu", "memory"}) {
      const Value* request = container.At({"resources", "requests", name});
      const bool limited = container.At({"resources", "limits", name}) != nullptr;
      if (request != nullptr && !limited) {
        const Value least = *request;
        container.Make({"resources", "limits", name}) = least;
      }
    }
  });
  return pod;
}

Value AdmittedClaim(Value claim, const Defaults& defaults) {
  const Value* given = claim.At({"spec", "storageClassName"});
  const bool chosen = (given != nullptr && !given->IsNull()) ||
                      claim.At({"metadata", "annotations", kBetaStorageClass}) != nullptr;
  if (!chosen && !defaults.storage_class.empty()) {
    claim.Make({"spec", "storageClassName"}) = defaults.storage_class;
  }
  return claim;
}

std::vector<std::string> RefusalsAtAdmission(const Value& object, const Defaults& defaults) {
  // The mutating plugins run before the object is validated.
  const bool pod = Is(object, kPod);
  std::vector<std::string> refusals;
  if (pod) refusals = ClassRefusals(object, defaults);
  if (refusals.empty()) refusals = RefusalsOf(object, defaults.bounds);
  if (refusals.empty() && pod) refusals = OverheadRefusals(object, defaults);
  return refusals;
}

Value PodFromTemplate(const Value& pod_template, std::string_view ns, std::string_view name) {
  Value pod = Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
  for (const char* member : {"labels", "annotations"}) {
    const Value* given = pod_template.At({"metadata", member});
    if (given != nullptr) pod.Make({"metadata", member}) = *given;
  }
  pod.Make({"metadata", "namespace"}) = ns;
  pod.Make({"metadata", "name"}) = name;
  const Value* spec = pod_template.At({"spec"});
  pod.Make({"spec"}) = spec != nullptr ? *spec : Value(Object());
  // A stored template does not keep it.
  const Value* overhead = pod.At({"spec", "overhead"});
  if (overhead != nullptr && IsEmpty(*overhead)) pod.Make({"spec"}).AsObject()->Erase("overhead");
  return pod;
}

}  // namespace inspect
