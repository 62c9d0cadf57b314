// Device claims: counted, and by device class the most devices they can be given
// (kubernetes-resourcequota.md 3.5).
//
// Not here: what a claim adds to requests.<extended resource> and to
// requests.deviceclass.resource.kubernetes.io/<class>. That takes the DeviceClass objects and, to
// subtract what is charged already, the pod that owns the claim: no object says it alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/quota/evaluator.h"

namespace quota::core::resourceclaims {
namespace {

constexpr std::string_view kDevices = ".deviceclass.resource.k8s.io/devices";
// Mode All takes every device that matches, and a claim can be given no more than this.
constexpr std::int64_t kMostDevices = 32;

constexpr const char* kCount = "count/resourceclaims.resource.k8s.io";

bool Owns(std::string_view name) { return name == kCount || name.ends_with(kDevices); }

base::Error Malformed(std::string field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::move(field).append(": ").append(what)};
}

std::string DevicesOfClass(const json::Value& request) {
  return std::string(request.StringAt({"deviceClassName"})).append(kDevices);
}

// Without a mode it is ExactCount, and without a count one, as the API server defaults. A mode that
// we do not know counts nothing.
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

// One of the alternatives will be taken: of each class the largest that may be.
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

base::Result<ResourceList> UsageOf(const json::Value& request, const std::string& field) {
  const json::Value* alternatives = request.At({"firstAvailable"});
  const json::Array* list = alternatives == nullptr ? nullptr : alternatives->AsArray();
  if (list != nullptr && !list->empty()) return MostOf(*list, field + ".firstAvailable");
  const json::Value* exactly = request.At({"exactly"});
  if (exactly == nullptr || exactly->IsNull()) return ResourceList();  // of a later version
  const base::Result<Quantity> devices = DevicesOf(*exactly, field + ".exactly");
  if (!devices) return devices.error();
  return ResourceList{{DevicesOfClass(*exactly), *devices}};
}

base::Result<ObjectFacts> FactsOf(const json::Value& claim, base::WallTime /*now*/) {
  const std::string field = "spec.devices.requests";
  ObjectFacts facts;
  facts.now.usage.Set(kCount, Quantity::FromInt(1));
  const json::Value* requests = claim.At({"spec", "devices", "requests"});
  if (requests == nullptr || requests->IsNull()) return facts;
  const json::Array* list = requests->AsArray();
  if (list == nullptr) return Malformed(field, "must be a list");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string at = field + "[" + std::to_string(i) + "]";
    const base::Result<ResourceList> usage = UsageOf((*list)[i], at);
    if (!usage) return usage.error();
    const base::Result<void> added = facts.now.usage.Add(*usage);
    if (!added) return Malformed(at, added.error().message);
  }
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  std::vector<std::string> fields;
  for (const char* form :
       {"spec.devices.requests.exactly.", "spec.devices.requests.firstAvailable."}) {
    for (const char* field : {"deviceClassName", "allocationMode", "count"}) {
      fields.push_back(std::string(form) + field);
    }
  }
  return {
      .resource = {.group = "resource.k8s.io", .resource = "resourceclaims"},
      .owns = Owns,
      .fields = std::move(fields),
      .scopes = {},
      .facts_of = FactsOf,
  };
}

}  // namespace quota::core::resourceclaims
