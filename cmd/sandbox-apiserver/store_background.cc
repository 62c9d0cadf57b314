// Work without a request: removes pods after their grace period, the contents of terminating
// namespaces, and the dependents of deleted owners.

#include <algorithm>

#include "cmd/sandbox-apiserver/store.h"
#include "pkg/api/object_meta.h"

namespace sandbox {
namespace {

using json::Array;
using json::Value;

Target TargetOf(const TypePtr& type, const Value& object) {
  return {type, std::string(api::Namespace(object)), std::string(api::Name(object)), ""};
}

}  // namespace

void Store::Schedule(base::TimePoint when, std::function<void()> work) {
  const bool earlier = due_.empty() || when < due_.begin()->first;
  due_.emplace(when, std::move(work));
  if (earlier && on_work_) on_work_();
}

std::optional<base::TimePoint> Store::NextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

void Store::RunDue() {
  const base::TimePoint now = clock_.Now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::function<void()> work = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    work();
  }
}

void Store::ScheduleNamespace(const std::string& name) {
  if (!namespaces_due_.insert(name).second) return;
  Schedule(clock_.Now(), [this, name] { FinalizeNamespace(name); });
}

// Deletes the objects in the namespace, and the namespace itself once it is empty.
void Store::FinalizeNamespace(const std::string& name) {
  const TypePtr type = registry_.Find("", "v1", "namespaces");
  const ObjectPtr ns = FindStored(*type, name);
  if (ns == nullptr || !api::IsBeingDeleted(*ns)) {
    namespaces_due_.erase(name);
    return;
  }
  // Removals below would only schedule this again.
  const bool empty = DeleteContents(name);
  namespaces_due_.erase(name);
  if (!empty) return;  // the removal of the last object calls this again
  Value body = *ns;
  body.Make({"metadata", "resourceVersion"}) = "";
  body.Make({"spec", "finalizers"}) = Array();
  static_cast<void>(Update({type, "", name, "finalize"}, std::move(body)));
}

// Returns true if the namespace is empty.
bool Store::DeleteContents(const std::string& ns) {
  const std::string prefix = ns + "/";
  bool empty = true;
  for (auto& [resource, collection] : collections_) {
    const TypePtr type = registry_.FindAny(resource);
    if (type == nullptr || !type->namespaced) continue;
    std::vector<std::string> keys;
    for (auto at = collection.objects.lower_bound(prefix);
         at != collection.objects.end() && at->first.starts_with(prefix); ++at) {
      keys.push_back(at->first);
    }
    for (const std::string& key : keys) {
      const Target target{type, ns, key.substr(prefix.size()), ""};
      // Objects with a deletionTimestamp wait for their finalizers.
      const ObjectPtr object = FindStored(*type, key);
      if (object != nullptr && !api::IsBeingDeleted(*object)) static_cast<void>(Delete(target));
      empty = empty && FindStored(*type, key) == nullptr;
    }
  }
  return empty;
}

void Store::ReapPod(const Target& target, const std::string& uid) {
  auto current = Current(target);
  if (!current || api::Uid(**current) != uid) return;
  DeleteOptions now;
  now.grace_period_seconds = 0;
  static_cast<void>(Delete(target, now));
}

// Deletes the dependents that have no owner left. Deletions with the policy Foreground or Orphan
// are done like all others: in the background.
void Store::CollectDependents(const std::string& owner_uid) {
  const auto found = dependents_.find(owner_uid);
  if (found == dependents_.end()) return;
  const Keys keys = found->second;
  for (const auto& [resource, key] : keys) {
    const TypePtr type = registry_.FindAny(resource);
    const ObjectPtr object = type != nullptr ? FindStored(*type, key) : nullptr;
    if (object == nullptr) continue;
    const Array& owners = object->ArrayAt({"metadata", "ownerReferences"});
    const bool owned = std::any_of(owners.begin(), owners.end(), [this](const Value& owner) {
      return uids_.contains(std::string(owner.StringAt({"uid"})));
    });
    if (!owned) static_cast<void>(Delete(TargetOf(type, *object)));
  }
}

// The definition is gone: its objects go with it, its watches end.
void Store::DropCrd(const Value& crd) {
  const api::GroupResource resource{std::string(crd.StringAt({"spec", "group"})),
                                    std::string(crd.StringAt({"spec", "names", "plural"}))};
  const TypePtr type = registry_.FindAny(resource);
  if (type == nullptr || !type->custom) return;
  Collection& collection = CollectionOf(*type);
  while (!collection.objects.empty()) {
    const ObjectPtr object = collection.objects.begin()->second;
    Remove(type, *object, object);
  }
  registry_.SetCustom(std::string(api::Name(crd)), {});
  collection.history->Close();
}

void Store::AddDefaultNamespaces() {
  const TypePtr type = registry_.Find("", "v1", "namespaces");
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    static_cast<void>(
        Create({type, "", "", ""}, json::Object{{"metadata", json::Object{{"name", name}}}}));
  }
}

}  // namespace sandbox
