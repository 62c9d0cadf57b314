#include "pkg/inspect/owners.h"

#include <algorithm>
#include <iterator>

#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"

namespace inspect {
namespace {

// Longer chains are cycles: the API server does not check owners when they are written.
constexpr int kLongestChain = 16;

OwnerRef RefFrom(const json::Value& reference) {
  return {.api_version = std::string(api::ApiVersion(reference)),
          .kind = std::string(api::Kind(reference)),
          .name = std::string(reference.StringAt({"name"})),
          .uid = std::string(reference.StringAt({"uid"}))};
}

}  // namespace

std::string GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : std::string(api_version.substr(0, slash));
}

bool IsCustomGroup(std::string_view group) {
  // A group without a dot cannot be one of a CustomResourceDefinition.
  if (group.find('.') == std::string_view::npos) return false;
  constexpr std::string_view kBuiltIn[] = {"admissionregistration.k8s.io",
                                           "apiextensions.k8s.io",
                                           "apiregistration.k8s.io",
                                           "authentication.k8s.io",
                                           "authorization.k8s.io",
                                           "certificates.k8s.io",
                                           "coordination.k8s.io",
                                           "custom.metrics.k8s.io",
                                           "discovery.k8s.io",
                                           "events.k8s.io",
                                           "external.metrics.k8s.io",
                                           "flowcontrol.apiserver.k8s.io",
                                           "imagepolicy.k8s.io",
                                           "internal.apiserver.k8s.io",
                                           "metrics.k8s.io",
                                           "networking.k8s.io",
                                           "node.k8s.io",
                                           "rbac.authorization.k8s.io",
                                           "resource.k8s.io",
                                           "scheduling.k8s.io",
                                           "storage.k8s.io",
                                           "storagemigration.k8s.io"};
  return std::ranges::find(kBuiltIn, group) == std::end(kBuiltIn);
}

std::string ObjectName::ToString() const {
  return kind + (group.empty() ? "" : "." + group) + "/" + name;
}

ObjectName OwnerRef::Name() const { return {base::ToLower(kind), GroupOf(api_version), name}; }

std::optional<OwnerRef> OwnerOf(const json::Value& object) {
  const json::Value* reference = api::OwnerReference(object);
  return reference == nullptr ? std::nullopt : std::optional(RefFrom(*reference));
}

void OwnerIndex::Add(const json::Value& object) {
  owners_[std::string(api::Uid(object))] = OwnerOf(object);
}

OwnerRef OwnerIndex::Top(const OwnerRef& ref, std::vector<OwnerRef>* path) const {
  OwnerRef top = ref;
  for (int step = 0; step < kLongestChain; ++step) {
    const auto at = owners_.find(top.uid);
    if (at == owners_.end() || !at->second) break;
    if (path != nullptr) path->push_back(top);
    top = *at->second;
  }
  return top;
}

std::optional<OwnerKind> OwnerIndex::Missing(const OwnerRef& ref) const {
  const OwnerRef top = Top(ref);
  const OwnerKind kind{top.api_version, top.kind};
  const bool ends = owners_.contains(top.uid) || read_.contains(kind);
  return ends ? std::nullopt : std::optional(kind);
}

bool OwnerIndex::Reaches(const OwnerRef& ref, std::string_view uid) const {
  std::vector<OwnerRef> path;
  path.push_back(Top(ref, &path));
  return std::ranges::any_of(path, [&](const OwnerRef& step) { return step.uid == uid; });
}

}  // namespace inspect
