#include "cmd/sandbox-apiserver/pod_rules.h"

#include <algorithm>
#include <set>

#include "cmd/sandbox-apiserver/object_rules.h"
#include "cmd/sandbox-apiserver/resource_lists.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kContainerLists[] = {"initContainers", "containers",
                                                "ephemeralContainers"};

void SetDefault(Value& value, std::string_view member, Value fallback) {
  Object* const object = value.AsObject();
  if (object == nullptr) return;
  const Value* const present = object->Find(member);
  if (present == nullptr || present->IsNull()) object->Set(member, std::move(fallback));
}

Array* ListAt(Value& value, std::string_view member) {
  Value* const list = FindMember(value, {member});
  return list != nullptr ? list->AsArray() : nullptr;
}

// A missing request defaults to the limit.
Outcome<void> DefaultResources(const ResourceType& type, Value& resources) {
  if (auto done = NormalizeQuantities(type, FindMember(resources, {"limits"})); !done) return done;
  if (auto done = NormalizeQuantities(type, FindMember(resources, {"requests"})); !done) {
    return done;
  }
  const Value* const limits = resources.At({"limits"});
  if (limits == nullptr || !limits->IsObject()) return {};
  const Object copy = *limits->AsObject();
  for (const auto& [name, limit] : copy) {
    if (resources.At({"requests", name}) == nullptr) resources.Make({"requests", name}) = limit;
  }
  return {};
}

Outcome<void> DefaultContainer(const ResourceType& type, Value& container) {
  if (!container.IsObject()) return {};
  const std::string image(container.StringAt({"image"}));
  const std::size_t tag =
      image.find(':', image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
  const bool latest = tag == std::string::npos || image.substr(tag) == ":latest";
  if (!image.empty()) SetDefault(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "resources", Object());
  if (Array* ports = ListAt(container, "ports")) {
    for (Value& port : *ports) SetDefault(port, "protocol", "TCP");
  }
  return DefaultResources(type, *FindMember(container, {"resources"}));
}

void ValidateResources(const Value& resources, const std::string& path, FieldErrors& errors) {
  for (std::string_view member : {"limits", "requests"}) {
    const Value* const list = resources.At({member});
    if (list == nullptr || !list->IsObject()) continue;
    const std::string field = path + "." + std::string(member);
    for (const auto& [name, value] : *list->AsObject()) {
      for (const std::string& wrong : CheckQualifiedName(name)) errors.Invalid(field, name, wrong);
      const bool known = name.find('/') != std::string::npos || name == "cpu" || name == "memory" ||
                         name == "ephemeral-storage" || name.starts_with("hugepages-");
      if (!known) {
        errors.Invalid(std::string(field).append("[").append(name).append("]"), name,
                       "must be a standard resource for containers");
      }
      ValidateQuantity(field, name, value, errors);
    }
  }
  const Value* const requests = resources.At({"requests"});
  const Value* const limits = resources.At({"limits"});
  if (requests == nullptr || !requests->IsObject() || limits == nullptr) return;
  for (const auto& [name, value] : *requests->AsObject()) {
    if (limits->At({name}) == nullptr) continue;
    const quantity::Quantity limit = QuantityOf(limits, name);
    if (QuantityOf(requests, name) > limit) {
      errors.Invalid(path + ".requests", value,
                     "must be less than or equal to " + name + " limit of " + limit.ToString());
    }
  }
}

void ValidateContainers(const Value& spec, std::string_view member, const std::string& path,
                        std::set<std::string>& names, FieldErrors& errors) {
  const Value* const list = spec.At({member});
  if (list == nullptr || !list->IsArray()) return;
  for (std::size_t i = 0; i < list->AsArray()->size(); ++i) {
    const Value& container = (*list->AsArray())[i];
    const std::string at = path + "." + std::string(member) + "[" + std::to_string(i) + "]";
    const std::string name(container.StringAt({"name"}));
    if (name.empty()) {
      errors.Required(at + ".name");
    } else {
      for (const std::string& wrong : CheckDns1123Label(name)) {
        errors.Invalid(at + ".name", name, wrong);
      }
      if (!names.insert(name).second) errors.Duplicate(at + ".name", name);
    }
    if (container.StringAt({"image"}).empty()) errors.Required(at + ".image");
    if (const Value* resources = container.At({"resources"})) {
      ValidateResources(*resources, at + ".resources", errors);
    }
  }
}

// Copies the fields from `from` that may change in a stored pod.
void Mask(Value& spec, const Value& from) {
  for (std::string_view member :
       {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds",
        "ephemeralContainers", "schedulingGates"}) {
    const Value* const value = from.At({member});
    if (value != nullptr) {
      spec.AsObject()->Set(member, *value);
    } else {
      spec.AsObject()->Erase(member);
    }
  }
  for (std::string_view member : {"containers", "initContainers"}) {
    Array* const list = ListAt(spec, member);
    const Value* const others = from.At({member});
    if (list == nullptr || others == nullptr || !others->IsArray()) continue;
    for (std::size_t i = 0; i < std::min(list->size(), others->AsArray()->size()); ++i) {
      const Value* const image = (*others->AsArray())[i].At({"image"});
      if (image != nullptr && (*list)[i].IsObject()) (*list)[i].AsObject()->Set("image", *image);
    }
  }
}

}  // namespace

Outcome<void> DefaultPodSpec(const ResourceType& type, Value& spec) {
  if (!spec.IsObject()) return {};
  for (std::string_view member : kContainerLists) {
    Array* const list = ListAt(spec, member);
    if (list == nullptr) continue;
    for (Value& container : *list) {
      if (auto done = DefaultContainer(type, container); !done) return done;
    }
  }
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "securityContext", Object());
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "enableServiceLinks", true);
  if (Value* resources = FindMember(spec, {"resources"})) {
    if (auto done = DefaultResources(type, *resources); !done) return done;
  }
  return NormalizeQuantities(type, FindMember(spec, {"overhead"}));
}

void ValidatePodSpec(const Value& spec, const std::string& path, FieldErrors& errors) {
  const Value* const containers = spec.At({"containers"});
  if (containers == nullptr || !containers->IsArray() || containers->AsArray()->empty()) {
    errors.Required(path + ".containers");
  }
  std::set<std::string> names;
  for (std::string_view member : kContainerLists) {
    ValidateContainers(spec, member, path, names, errors);
  }
  const std::string policy(spec.StringAt({"restartPolicy"}));
  if (policy != "Always" && policy != "OnFailure" && policy != "Never") {
    errors.NotSupported(path + ".restartPolicy", policy, {"Always", "OnFailure", "Never"});
  }
  const Value* const overhead = spec.At({"overhead"});
  if (overhead == nullptr || !overhead->IsObject()) return;
  for (const auto& [name, value] : *overhead->AsObject()) {
    ValidateQuantity(path + ".overhead", name, value, errors);
  }
}

void ValidatePodUpdate(const Value& pod, const Value& old, FieldErrors& errors) {
  const Value* const before = old.At({"spec"});
  const Value* const now = pod.At({"spec"});
  if (before == nullptr || now == nullptr || !now->IsObject()) return;
  Value masked = *now;
  Mask(masked, *before);
  if (masked == *before) return;
  errors.Forbidden("spec",
                   "pod updates may not change fields other than `spec.containers[*].image`,"
                   "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                   "(only additions to existing tolerations),"
                   "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
                   "previously negative)");
}

void KeepOnlyResize(Value& pod, const Value& old) {
  Value result = old;
  if (const Value* const own = pod.At({"spec", "resources"})) {
    result.Make({"spec", "resources"}) = *own;
  }
  for (std::string_view member : {"containers", "initContainers"}) {
    Value* const list = FindMember(result, {"spec", member});
    const Value* const wanted = pod.At({"spec", member});
    if (list == nullptr || !list->IsArray() || wanted == nullptr || !wanted->IsArray()) continue;
    for (Value& container : *list->AsArray()) {
      for (const Value& other : *wanted->AsArray()) {
        const Value* const resources = other.At({"resources"});
        if (resources != nullptr && other.StringAt({"name"}) == container.StringAt({"name"})) {
          container.AsObject()->Set("resources", *resources);
        }
      }
    }
  }
  pod = std::move(result);
}

std::string QosClass(const Value& pod) {
  bool any = false;
  bool guaranteed = true;
  for (std::string_view member : {"containers", "initContainers"}) {
    const Value* const list = pod.At({"spec", member});
    if (list == nullptr || !list->IsArray()) continue;
    for (const Value& container : *list->AsArray()) {
      for (std::string_view name : {"cpu", "memory"}) {
        const quantity::Quantity request =
            QuantityOf(container.At({"resources", "requests"}), name);
        const quantity::Quantity limit = QuantityOf(container.At({"resources", "limits"}), name);
        any = any || !request.IsZero() || !limit.IsZero();
        guaranteed = guaranteed && !limit.IsZero() && request == limit;
      }
    }
  }
  // Pod-level resources replace those of the containers (KEP-2837).
  if (const Value* resources = pod.At({"spec", "resources"})) {
    any = false;
    guaranteed = true;
    for (std::string_view name : {"cpu", "memory"}) {
      const quantity::Quantity request = QuantityOf(resources->At({"requests"}), name);
      const quantity::Quantity limit = QuantityOf(resources->At({"limits"}), name);
      any = any || !request.IsZero() || !limit.IsZero();
      guaranteed = guaranteed && !limit.IsZero() && request == limit;
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace sandbox
