// Claims: counted, and measured by their requested storage, in total and for their StorageClass.
// Their only scope is the volume attributes class; a claim that changes from one class to another
// refers to both (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/persistent_volume_claims.go).

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/quota/object_counter.h"
#include "pkg/quota/quantity_field.h"

namespace quota::core::persistentvolumeclaims {
namespace {

constexpr const char* kScope = "VolumeAttributesClass";
constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kStorage = "requests.storage";
constexpr std::string_view kOfClass = ".storageclass.storage.k8s.io/";
constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";

// Binding a volume, or a change of the status, needs no more quota.
constexpr const char* kCanNeedMore =
    "object.spec.?resources.?requests.?storage != oldObject.spec.?resources.?requests.?storage || "
    "object.spec.?storageClassName != oldObject.spec.?storageClassName || "
    "object.spec.?volumeAttributesClassName != oldObject.spec.?volumeAttributesClassName || "
    "object.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class'] != "
    "oldObject.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class']";

bool IsOfClass(std::string_view name, std::string_view counted) {
  if (!name.ends_with(counted)) return false;
  name.remove_suffix(counted.size());
  return name.ends_with(kOfClass);
}

bool Owns(std::string_view name) {
  return name == kClaims || name == kStorage || name == "count/persistentvolumeclaims" ||
         IsOfClass(name, kClaims) || IsOfClass(name, kStorage);
}

std::string OfClass(std::string_view storage_class, std::string_view counted) {
  return std::string(storage_class).append(kOfClass).append(counted);
}

// The legacy annotation wins over the field, even if it is empty.
std::string_view StorageClassOf(const json::Value& claim) {
  const bool beta = claim.At({"metadata", "annotations", kBetaClass}) != nullptr;
  return beta ? claim.StringAt({"metadata", "annotations", kBetaClass})
              : claim.StringAt({"spec", "storageClassName"});
}

struct Storage {
  std::optional<Quantity> bytes;  // as far as it can be read
  std::string why;                // an amount cannot be read; "": none
};

// Whole bytes, rounded up.
Storage BytesFrom(const json::Value* amount, const char* field) {
  if (amount == nullptr) return {};
  const base::Result<Quantity> exact = QuantityFrom(*amount, field);
  if (!exact) return {.bytes = {}, .why = exact.error().message};
  return {.bytes = exact->RoundUpToInteger(), .why = {}};
}

// The requested storage, or the allocated storage if that is more: a claim that was made smaller
// after a failed expansion still holds the larger volume.
Storage StorageOf(const json::Value& claim) {
  Storage storage = BytesFrom(claim.At({"spec", "resources", "requests", "storage"}),
                              "spec.resources.requests[storage]");
  if (!storage.bytes && storage.why.empty()) return storage;
  Storage allocated = BytesFrom(claim.At({"status", "allocatedResources", "storage"}),
                                "status.allocatedResources[storage]");
  if (storage.why.empty()) storage.why = std::move(allocated.why);
  const bool more = allocated.bytes && (!storage.bytes || *allocated.bytes > *storage.bytes);
  if (more) storage.bytes = allocated.bytes;
  return storage;
}

std::vector<Attribute> AttributesOf(const json::Value& claim) {
  std::vector<Attribute> attributes;
  for (const std::string_view name :
       {claim.StringAt({"spec", "volumeAttributesClassName"}),
        claim.StringAt({"status", "currentVolumeAttributesClassName"}),
        claim.StringAt({"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"})}) {
    if (!name.empty()) attributes.emplace_back(kScope, name);
  }
  std::sort(attributes.begin(), attributes.end());
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  return attributes;
}

base::Result<ObjectFacts> FactsOf(const json::Value& claim, const ReadOptions& /*options*/) {
  Storage storage = StorageOf(claim);
  const Quantity one = Quantity::FromInt(1);
  ObjectFacts facts;
  ResourceList& usage = facts.now.usage;
  std::vector<std::string> of_storage = {kStorage};
  usage = {{kClaims, one}, {"count/persistentvolumeclaims", one}};
  const std::string_view storage_class = StorageClassOf(claim);
  if (!storage_class.empty()) {
    usage.Set(OfClass(storage_class, kClaims), one);
    of_storage.push_back(OfClass(storage_class, kStorage));
    std::ranges::sort(of_storage);
  }
  if (storage.bytes) {
    for (const std::string& name : of_storage) usage.Set(name, *storage.bytes);
  }
  if (!storage.why.empty()) facts.now.unread = std::move(of_storage);
  facts.flaw = std::move(storage.why);
  facts.now.attributes = AttributesOf(claim);
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "", .resource = "persistentvolumeclaims"},
      .owns = Owns,
      .fields = {"metadata.annotations[" + std::string(kBetaClass) + "]", "spec.storageClassName",
                 "spec.resources.requests.storage", "spec.volumeAttributesClassName",
                 "status.allocatedResources.storage", "status.currentVolumeAttributesClassName",
                 "status.modifyVolumeStatus.targetVolumeAttributesClassName"},
      .scopes = {kScope},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .fields = {},
                .constraints = nullptr},
  };
}

}  // namespace quota::core::persistentvolumeclaims
