#include "cmd/sandbox-apiserver/pod_rules.h"

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
  std::vector<const Value*> resources;
  for (std::string_view member : {"containers", "initContainers"}) {
    for (const Value& container : pod.ArrayAt({"spec", member})) {
      resources.push_back(container.At({"resources"}));
    }
  }
  // Pod-level resources replace those of the containers (KEP-2837).
  if (const Value* const own = pod.At({"spec", "resources"})) resources = {own};
  bool any = false;
  bool guaranteed = true;
  for (const Value* const one : resources) {
    for (std::string_view name : {"cpu", "memory"}) {
      const Value* const requests = one != nullptr ? one->At({"requests"}) : nullptr;
      const Value* const limits = one != nullptr ? one->At({"limits"}) : nullptr;
      const quantity::Quantity request = QuantityOf(requests, name);
      const quantity::Quantity limit = QuantityOf(limits, name);
      any = any || !request.IsZero() || !limit.IsZero();
      guaranteed = guaranteed && !limit.IsZero() && request == limit;
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace sandbox
