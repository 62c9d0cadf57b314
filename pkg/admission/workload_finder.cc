#include "pkg/admission/workload_finder.h"

#include <glog/logging.h>

#include <array>
#include <utility>

#include "pkg/api/object_meta.h"

namespace admission {
namespace {

constexpr std::chrono::seconds kWait{1};
// The controller of an object seldom changes.
constexpr std::chrono::minutes kKept{10};
// An owner that could not be read, or that has no controller yet.
constexpr std::chrono::minutes kMissKept{1};
// Roles seldom change.
constexpr std::chrono::minutes kRefusedKept{10};
constexpr std::size_t kMostText = 256;  // of what is kept; Kubernetes' own kinds need less

struct Owned {
  std::string_view group;
  std::string_view kind;
  std::string_view resource;
};
constexpr std::array kOwned{Owned{"apps", "ReplicaSet", "replicasets"},
                            Owned{"batch", "Job", "jobs"}};

const Owned* Find(const Owner& owner) {
  const std::string_view version = owner.api_version;
  for (const Owned& owned : kOwned) {
    if (owned.kind == owner.kind && version.substr(0, version.find('/')) == owned.group) {
      return &owned;
    }
  }
  return nullptr;
}

bool IsShort(const Owner& owner) {
  return owner.api_version.size() <= kMostText && owner.kind.size() <= kMostText &&
         owner.name.size() <= kMostText && owner.uid.size() <= kMostText;
}

// The controller of this object in the list; nullopt also if the object of the name is another one.
std::optional<Owner> ControllerIn(const json::Value& list, const Owner& owned) {
  for (const json::Value& item : list.ArrayAt({"items"})) {
    if (api::Uid(item) != owned.uid || api::Name(item) != owned.name) continue;
    const json::Value* reference = api::OwnerReference(item);
    if (reference == nullptr || !api::IsController(*reference)) return std::nullopt;
    const auto text = [&](std::string_view name) {
      return std::string(reference->StringAt({name}));
    };
    Owner workload{text("apiVersion"), text("kind"), text("name"), text("uid")};
    if (IsShort(workload)) return workload;
  }
  return std::nullopt;
}

}  // namespace

bool WorkloadFinder::MayHaveWorkload(const Owner& owner) { return Find(owner) != nullptr; }

const WorkloadFinder::Answer* WorkloadFinder::Known(const std::string& ns,
                                                    const Owner& owner) const {
  const auto found = known_.find({ns, owner.name, owner.uid});
  const bool fresh = found != known_.end() && scheduler_.Now() < found->second.until;
  return fresh ? &found->second : nullptr;
}

// Forgets all if there are too many: owners that are refused again are then read again, one at a
// time.
void WorkloadFinder::Remember(Key key, std::optional<Owner> workload) {
  const base::TimePoint now = scheduler_.Now();
  if (known_.size() >= kMostKnown) {
    std::erase_if(known_, [now](const auto& entry) { return entry.second.until <= now; });
  }
  if (known_.size() >= kMostKnown) known_.clear();
  const base::Duration keep = workload ? base::Duration(kKept) : base::Duration(kMissKept);
  known_[std::move(key)] = {.workload = std::move(workload), .until = now + keep};
}

base::Task<std::optional<Owner>> WorkloadFinder::Ask(std::string ns, Owner owner) {
  const Owned* const found = Find(owner);
  CHECK(found != nullptr) << "no workload owns a " << owner.kind;
  const Owned& owned = *found;
  const auto refused = refused_.find(owned.kind);
  if (refused != refused_.end() && scheduler_.Now() < refused->second) co_return std::nullopt;
  const api::GroupVersionResource resource{std::string(owned.group), "v1",
                                           std::string(owned.resource)};
  auto request = client::ListMetadataOf(resource.Path(ns), owner.name, kWait);
  const auto list = co_await client::DoJson(client_, std::move(request));
  if (!list && list.error().Is(base::ErrorCode::kForbidden)) {
    refused_[std::string(owned.kind)] = scheduler_.Now() + kRefusedKept;
  }
  std::optional<Owner> workload = list ? ControllerIn(*list, owner) : std::nullopt;
  Remember({std::move(ns), owner.name, owner.uid}, workload);
  co_return workload;
}

}  // namespace admission
