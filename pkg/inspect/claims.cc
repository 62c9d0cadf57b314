#include "pkg/inspect/claims.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

// Returns what a controller creates from a template with `metadata` and `spec`.
Value MadeFrom(const Value& given, std::string_view api_version, std::string_view kind,
               std::string_view ns, const std::string& name) {
  Value made = Object{{"apiVersion", api_version}, {"kind", kind}};
  made.Make({"metadata", "namespace"}) = ns;
  made.Make({"metadata", "name"}) = name;
  for (const char* member : {"labels", "annotations"}) {
    const Value* value = given.At({"metadata", member});
    if (value != nullptr) made.Make({"metadata", member}) = *value;
  }
  const Value* spec = given.At({"spec"});
  made.Make({"spec"}) = spec == nullptr ? Value(Object()) : *spec;
  return made;
}

Value VolumeClaim(const Value& given, const Value& maker, const std::string& name,
                  const Defaults& defaults) {
  return AdmittedClaim(MadeFrom(given, "v1", kClaim.kind, api::Namespace(maker), name), defaults);
}

bool IsOrdinal(const std::string& name, const std::string& prefix, std::int64_t first,
               std::int64_t replicas) {
  if (!name.starts_with(prefix) || name.size() > prefix.size() + 9) return false;
  const std::string digits = name.substr(prefix.size());
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  const std::int64_t ordinal = std::stoll(digits);
  return ordinal >= first && ordinal < first + replicas;
}

// True if the pod's group has the same claim.
bool IsShared(const Value& entry, const Value& pod, const PodGroups& groups) {
  const std::string group(pod.StringAt({"spec", "schedulingGroup", "podGroupName"}));
  const auto found = groups.find(group);
  if (found == groups.end()) return false;
  return std::ranges::any_of(found->second.ArrayAt({"spec", "resourceClaims"}),
                             [&](const Value& other) {
                               return other.StringAt({"name"}) == entry.StringAt({"name"}) &&
                                      other.StringAt({"resourceClaimTemplateName"}) ==
                                          entry.StringAt({"resourceClaimTemplateName"});
                             });
}

}  // namespace

std::set<std::string> ClaimTemplatesOf(const Value& object) {
  std::set<std::string> names;
  const Value* spec = Is(object, kPodGroup) ? object.At({"spec"}) : PodSpecOf(object);
  if (spec == nullptr) return names;
  for (const Value& claim : spec->ArrayAt({"resourceClaims"})) {
    const std::string_view name = claim.StringAt({"resourceClaimTemplateName"});
    if (!name.empty()) names.emplace(name);
  }
  return names;
}

std::string PodGroupOf(const Value& object) {
  const Value* spec = PodSpecOf(object);
  return spec == nullptr ? "" : std::string(spec->StringAt({"schedulingGroup", "podGroupName"}));
}

std::vector<Value> VolumeClaimsOf(const Value& pod, const Defaults& defaults) {
  std::vector<Value> claims;
  for (const Value& volume : pod.ArrayAt({"spec", "volumes"})) {
    const Value* given = volume.At({"ephemeral", "volumeClaimTemplate"});
    if (given == nullptr || !given->IsObject()) continue;
    const std::string name =
        std::string(api::Name(pod)) + "-" + std::string(volume.StringAt({"name"}));
    claims.push_back(VolumeClaim(*given, pod, name, defaults));
  }
  return claims;
}

base::Result<std::vector<Value>> DeviceClaimsOf(const Value& pod, const ClaimTemplates& templates,
                                                const PodGroups& groups) {
  std::vector<Value> claims;
  for (const Value& entry : pod.ArrayAt({"spec", "resourceClaims"})) {
    const std::string wanted(entry.StringAt({"resourceClaimTemplateName"}));
    if (wanted.empty() || IsShared(entry, pod, groups)) continue;
    const auto found = templates.find(wanted);
    if (found == templates.end()) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = "there is no ResourceClaimTemplate " + json::Quote(wanted) +
                                    ", so the needs of its claims are not known"};
    }
    const Value* given = found->second.At({"spec"});
    const std::string name =
        std::string(api::Name(pod)) + "-" + std::string(entry.StringAt({"name"})) + "-…";
    claims.push_back(MadeFrom(given == nullptr ? Value(Object()) : *given,
                              api::ApiVersion(found->second), "ResourceClaim", api::Namespace(pod),
                              name));
  }
  return claims;
}

std::vector<SetClaims> SetClaimsOf(const Value& stateful_set, std::int64_t replicas,
                                   const std::set<std::string>& present, const Defaults& defaults) {
  std::vector<SetClaims> all;
  const std::int64_t first = NumberAt(stateful_set, {"spec", "ordinals", "start"}, 0);
  for (const Value& given : stateful_set.ArrayAt({"spec", "volumeClaimTemplates"})) {
    const std::string prefix =
        std::string(api::Name(given)) + "-" + std::string(api::Name(stateful_set)) + "-";
    SetClaims& claims = all.emplace_back();
    claims.claim = VolumeClaim(given, stateful_set, prefix + "…", defaults);
    std::ranges::copy_if(present, std::back_inserter(claims.present), [&](const std::string& name) {
      return IsOrdinal(name, prefix, first, replicas);
    });
  }
  return all;
}

}  // namespace inspect
