#include "pkg/inspect/unused_claims.h"

#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"

namespace inspect {
namespace {

const json::Value* UnusedCondition(const json::Value& claim) {
  for (const json::Value& condition : claim.ArrayAt({"status", "conditions"})) {
    if (condition.StringAt({"type"}) == "Unused") return &condition;
  }
  return nullptr;
}

std::string ControllerUid(const json::Value& object) {
  const json::Value* owner = api::OwnerReference(object);
  const bool controls = owner != nullptr && api::IsController(*owner);
  return controls ? std::string(owner->StringAt({"uid"})) : "";
}

}  // namespace

void UnusedClaims::AddClaim(const json::Value& claim) {
  Key key(api::Namespace(claim), api::Name(claim));
  const json::Value* condition = UnusedCondition(claim);
  const std::string_view status = condition == nullptr ? "" : condition->StringAt({"status"});
  if (status == "False") return;
  if (status != "True") {
    untold_.insert_or_assign(std::move(key), Untold{.controller = ControllerUid(claim)});
    return;
  }
  const auto since = api::ParseTime(condition->StringAt({"lastTransitionTime"}));
  unused_.insert_or_assign(std::move(key),
                           Unused{.since = since ? std::optional(*since) : std::nullopt});
}

// As podUsesPVCForUnusedSince (kubernetes v1.37.2,
// pkg/controller/volume/pvcprotection/pvc_protection_controller.go).
void UnusedClaims::AddPod(const json::Value& pod) {
  const std::string_view phase = pod.StringAt({"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return;
  const std::string ns(api::Namespace(pod));
  for (const json::Value& volume : pod.ArrayAt({"spec", "volumes"})) {
    if (volume.At({"ephemeral"}) != nullptr) {
      const auto made = untold_.find(
          {ns, std::string(api::Name(pod)) + "-" + std::string(volume.StringAt({"name"}))});
      if (made != untold_.end() && made->second.controller == api::Uid(pod)) untold_.erase(made);
    }
    const std::string_view name = volume.StringAt({"persistentVolumeClaim", "claimName"});
    if (!name.empty()) untold_.erase({ns, std::string(name)});
  }
}

const UnusedClaims::Unused* UnusedClaims::Find(std::string_view ns, std::string_view name) const {
  const Key key(ns, name);
  const auto known = unused_.find(key);
  if (known != unused_.end()) return &known->second;
  const auto untold = untold_.find(key);
  return untold == untold_.end() ? nullptr : &untold->second.unused;
}

void SetEarlier(std::optional<base::WallTime>& time, const std::optional<base::WallTime>& other) {
  if (other && (!time || *other < *time)) time = other;
}

}  // namespace inspect
