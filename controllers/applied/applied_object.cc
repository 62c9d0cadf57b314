#include "controllers/applied/applied_object.h"

#include <initializer_list>
#include <utility>

#include "pkg/quota/cluster_spec.h"
#include "pkg/quota/cluster_status.h"
#include "pkg/quota/hash.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/scope_field.h"

namespace controllers {
namespace {

constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kManager = "quota-controller-manager";

json::Object AppliedStatus(const AppliedContent& content) {
  json::Object status{{"hard", quota::ToJson(content.status.hard)},
                      {"used", quota::ToJson(content.status.used)},
                      {"available", quota::ToJson(content.available)},
                      {"usedInNamespace", quota::ToJson(content.in_namespace)},
                      {"enforcement", quota::ToString(content.enforcement)},
                      {"summary", quota::SummaryOf(content.status)}};
  if (!content.parent.empty()) status.Set("parent", content.parent);
  if (!content.guaranteed.empty()) status.Set("guaranteed", quota::ToJson(content.guaranteed));
  if (!content.guaranteed_below.empty()) {
    status.Set("guaranteedBelow", quota::ToJson(content.guaranteed_below));
  }
  if (!content.selector.empty()) status.Set("scopeSelector", quota::ToJson(content.selector));
  return status;
}

// Members are added up, because their order must not change the digest.
std::uint64_t HashJson(const json::Value* value) {
  if (value == nullptr) return 0;
  if (const json::Object* object = value->AsObject()) {
    std::uint64_t sum = object->size() + 1;
    for (const auto& [name, member] : *object) sum += quota::HashText(name, HashJson(&member));
    return quota::Mix(sum);
  }
  if (const json::Array* array = value->AsArray()) {
    std::uint64_t hash = 2;
    for (const json::Value& element : *array) hash = quota::Combine(hash, HashJson(&element));
    return hash;
  }
  if (const std::string* text = value->AsString()) return quota::HashText(*text, 3);
  return quota::HashText(json::Write(*value), 4);
}

}  // namespace

const api::GroupVersionResource& AppliedResource() {
  static const api::GroupVersionResource applied{"quota-controller-manager.io", "v1alpha1",
                                                 "appliedclusterquotas"};
  return applied;
}

bool SaysTheSame(const quota::Quota& a, const quota::Quota& b) {
  const auto further = [](const quota::Quota& quota, std::string_view member) {
    const json::Value* value = quota.further_status.Find(member);
    return value != nullptr ? *value : json::Value();
  };
  const quota::ClusterSpec none;
  const quota::ClusterSpec& spec_a = a.cluster ? *a.cluster : none;
  const quota::ClusterSpec& spec_b = b.cluster ? *b.cluster : none;
  return a.uid == b.uid && a.status == b.status && a.hard == b.hard &&
         further(a, "available") == further(b, "available") &&
         further(a, "conditions").IsNull() == further(b, "conditions").IsNull() &&
         a.selector == b.selector && spec_a.parent == spec_b.parent &&
         spec_a.guaranteed == spec_b.guaranteed && spec_a.enforcement == spec_b.enforcement;
}

bool DiffersInUsageOnly(const quota::Quota& a, quota::Quota b) {
  if (a.status.used.size() != b.status.used.size()) return false;
  b.status.used = a.status.used;
  const json::Value* available = a.further_status.Find("available");
  b.further_status.Set("available", available != nullptr ? *available : json::Value());
  return SaysTheSame(a, b);
}

json::Value AppliedObject(const std::string& ns, const std::string& quota,
                          const AppliedContent& content) {
  const std::string version = AppliedResource().GroupVersion();
  json::Array owners{json::Object{{"apiVersion", version},
                                  {"kind", "ClusterQuota"},
                                  {"name", quota},
                                  {"uid", content.uid},
                                  {"controller", true}}};
  return json::Object{
      {"apiVersion", version},
      {"kind", "AppliedClusterQuota"},
      {"metadata", json::Object{{"name", quota},
                                {"namespace", ns},
                                {"labels", json::Object{{std::string(kManagedBy), kManager}}},
                                {"ownerReferences", std::move(owners)}}},
      {"status", AppliedStatus(content)}};
}

json::Value AppliedPatch(const json::Value& object, const std::string& version) {
  json::Array operations;
  const auto set = [&](const char* path, json::Value value) {
    operations.push_back(json::Object{{"op", "add"}, {"path", path}, {"value", std::move(value)}});
  };
  // The API server answers 409 if this is not the stored version.
  set("/metadata/resourceVersion", version);
  set("/metadata/ownerReferences", *object.At({"metadata", "ownerReferences"}));
  set("/status", *object.At({"status"}));
  return operations;
}

bool IsOurs(const json::Value& object) {
  return object.StringAt({"metadata", "labels", kManagedBy}) == kManager;
}

std::uint64_t DigestOf(const json::Value& object) {
  return quota::Combine(HashJson(object.At({"metadata", "ownerReferences"})),
                        HashJson(object.At({"status"})));
}

}  // namespace controllers
