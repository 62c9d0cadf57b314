// Device claims: counted, and for each device class by the maximum number of devices that they can
// be given (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/resource_claims.go). The same devices
// also count as the class's implicit extended resource, and as the one that the class declares.
// Only the DeviceClass object has the latter, so the facts refer to it. A claim that the scheduler
// created for a pod's extended resources is tied to the pod, which is already charged.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/quota/core/extended_resources.h"
#include "pkg/quota/evaluator.h"

namespace quota::core::resourceclaims {
namespace {

constexpr std::string_view kDevices = ".deviceclass.resource.k8s.io/devices";
// Mode All takes every matching device, and a claim can be given no more than this.
constexpr std::int64_t kMostDevices = 32;

constexpr const char* kCount = "count/resourceclaims.resource.k8s.io";
constexpr const char* kMadeForPod = "resource.kubernetes.io/extended-resource-claim";
// A claim that is no longer tied to a pod uses more. Its spec cannot change.
constexpr const char* kCanNeedMore =
    "object.metadata.?annotations[?'resource.kubernetes.io/extended-resource-claim'] != "
    "oldObject.metadata.?annotations[?'resource.kubernetes.io/extended-resource-claim'] || "
    "object.metadata.?ownerReferences != oldObject.metadata.?ownerReferences";

bool Owns(std::string_view name) { return name == kCount || name.ends_with(kDevices); }

base::Error Malformed(std::string field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::move(field).append(": ").append(what)};
}

std::string DevicesOfClass(const json::Value& request) {
  return std::string(request.StringAt({"deviceClassName"})).append(kDevices);
}

// A missing mode is ExactCount and a missing count is one, as the API server defaults them. An
// unknown mode counts nothing.
base::Result<Quantity> DevicesOf(const json::Value& request, const std::string& field) {
  const std::string_view mode = request.StringAt({"allocationMode"});
  if (mode == "All") return Quantity::FromInt(kMostDevices);
  if (!mode.empty() && mode != "ExactCount") return Quantity();
  const json::Value* count = request.At({"count"});
  if (count == nullptr || count->IsNull()) return Quantity::FromInt(1);
  const std::optional<std::int64_t> devices = count->AsInt64();
  if (!devices || *devices < 0) return Malformed(field + ".count", "must be a whole number");
  return Quantity::FromInt(*devices == 0 ? 1 : *devices);
}

// One of the alternatives will be allocated: for each class the largest one counts.
base::Result<ResourceList> MostOf(const json::Array& alternatives, const std::string& field) {
  ResourceList most;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const base::Result<Quantity> devices =
        DevicesOf(alternatives[i], field + "[" + std::to_string(i) + "]");
    if (!devices) return devices.error();
    const std::string name = DevicesOfClass(alternatives[i]);
    if (most.Get(name) < *devices) most.Set(name, *devices);
  }
  return most;
}

// v1 and v1beta2 have the fields below `exactly`; v1beta1 and v1alpha3 have them in the request
// itself. All versions come here: reviews in the version of their request, other objects in the
// version that the server prefers.
base::Result<ResourceList> UsageOf(const json::Value& request, const std::string& field,
                                   const Rules& rules) {
  const json::Array& alternatives = request.ArrayAt({"firstAvailable"});
  if (!alternatives.empty()) return MostOf(alternatives, field + ".firstAvailable");
  const json::Value* exactly = request.At({"exactly"});
  const bool flat = exactly == nullptr || exactly->IsNull();
  if (flat && request.StringAt({"deviceClassName"}).empty()) {
    return ResourceList();  // a kind of request of a later version
  }
  const json::Value& one = flat ? request : *exactly;
  const json::Value* admin = one.At({"adminAccess"});
  const bool is_admin = admin != nullptr && admin->AsBool().value_or(false);
  if (is_admin && !rules.admin_access_counts) return ResourceList();
  const base::Result<Quantity> devices = DevicesOf(one, flat ? field : field + ".exactly");
  if (!devices) return devices.error();
  return ResourceList{{DevicesOfClass(one), *devices}};
}

std::string Requests(std::string_view prefix, std::string_view name) {
  return std::string(kRequestsPrefix).append(prefix).append(name);
}

// Adds the devices of each class in `usage` as that class's extended resources.
void AddExtended(Facts& facts) {
  const ResourceList devices = facts.usage;
  for (const auto& [name, quantity] : devices) {
    if (!name.ends_with(kDevices) || quantity.Sign() <= 0) continue;
    const std::string of_class = name.substr(0, name.size() - kDevices.size());
    if (of_class.empty()) continue;
    facts.usage.Set(Requests(kImplicitDeviceClass, of_class), quantity);
    facts.classes.push_back({of_class, quantity.nanos() / quantity::kNanosPerOne});
  }
  std::ranges::sort(facts.classes, {}, &ClassUnits::name);
}

// Anybody who creates a claim can set the annotation and the reference. So the ledger lets only one
// claim of a pod share the pod's charge.
std::optional<Tie> TieOf(const json::Value& claim) {
  if (claim.StringAt({"metadata", "annotations", kMadeForPod}) != "true") return std::nullopt;
  for (const json::Value& reference : claim.ArrayAt({"metadata", "ownerReferences"})) {
    if (!api::IsController(reference)) continue;
    const bool pod = api::Kind(reference) == "Pod" && api::ApiVersion(reference) == "v1";
    if (!pod) return std::nullopt;  // at most one owner is the controller
    return Tie{.owner = Uid::FromText(reference.StringAt({"uid"})),
               .name = std::string(api::Name(claim)),
               .created = std::string(claim.StringAt({"metadata", "creationTimestamp"}))};
  }
  return std::nullopt;
}

base::Result<ObjectFacts> FactsOf(const json::Value& claim, const ReadOptions& options) {
  const std::string field = "spec.devices.requests";
  ObjectFacts facts{.now = {}, .later = std::nullopt, .tie = TieOf(claim)};
  facts.now.usage.Set(kCount, Quantity::FromInt(1));
  const json::Value* requests = claim.At({"spec", "devices", "requests"});
  if (requests == nullptr || requests->IsNull()) return facts;
  const json::Array* list = requests->AsArray();
  if (list == nullptr) return Malformed(field, "must be a list");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string at = field + "[" + std::to_string(i) + "]";
    const base::Result<ResourceList> usage = UsageOf((*list)[i], at, options.rules);
    if (!usage) return usage.error();
    facts.now.usage.Add(*usage);
  }
  AddExtended(facts.now);
  return facts;
}

// Several classes may declare the same resource, for example while one replaces another: claims of
// all of them count under it.
base::Result<ClassUsage> UsageOfOne(const json::Value& device_class) {
  const std::string_view extended = device_class.StringAt({"spec", "extendedResourceName"});
  if (extended.empty()) return ClassUsage();
  return ClassUsage(ResourceList{{Requests("", extended), Quantity::FromInt(1)}});
}

bool OwnsByClass(std::string_view name, const ClassTable& classes) {
  if (!IsExtendedRequest(name)) return false;
  const std::string_view resource = name.substr(kRequestsPrefix.size());
  if (!IsImplicitDeviceClass(resource)) return classes.AnyUses(name);
  return classes.Has(resource.substr(kImplicitDeviceClass.size()));
}

ClassSource DeviceClasses() {
  return {
      .resource = {.group = "resource.k8s.io", .resource = "deviceclasses"},
      .fields = {"spec.extendedResourceName"},
      .usage_of = UsageOfOne,
      .missing = MissingClass::kUsesNothing,
      .concerns = IsExtendedRequest,
      .owns = OwnsByClass,
      .called = "device class",
  };
}

}  // namespace

Evaluator MakeEvaluator() {
  std::vector<std::string> fields = {std::string("metadata.annotations[") + kMadeForPod + "]",
                                     "metadata.creationTimestamp"};
  for (const char* field : {"apiVersion", "kind", "uid", "controller"}) {
    fields.push_back(std::string("metadata.ownerReferences.") + field);
  }
  const std::string requests = "spec.devices.requests.";
  for (const char* form : {"", "exactly.", "firstAvailable."}) {
    for (const char* field : {"deviceClassName", "allocationMode", "count"}) {
      fields.push_back(requests + form + field);
    }
  }
  // An alternative has no admin access.
  for (const char* form : {"", "exactly."}) fields.push_back(requests + form + "adminAccess");
  return {
      .resource = {.group = "resource.k8s.io", .resource = "resourceclaims"},
      .owns = Owns,
      .fields = std::move(fields),
      .scopes = {},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .fields = {},
                .constraints = nullptr},
      .classes = DeviceClasses(),
      .owners = api::GroupResource{.group = "", .resource = "pods"},
  };
}

}  // namespace quota::core::resourceclaims
