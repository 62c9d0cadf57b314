#include "cmd/sandbox-apiserver/background.h"

#include <algorithm>

#include "cmd/sandbox-apiserver/store.h"
#include "pkg/api/object_meta.h"

namespace sandbox {

using json::Array;
using json::Value;

void Background::Schedule(base::TimePoint when, std::function<void()> work) {
  const bool earlier = due_.empty() || when < due_.begin()->first;
  due_.emplace(when, std::move(work));
  if (earlier && on_work_) on_work_();
}

std::optional<base::TimePoint> Background::NextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

void Background::RunDue() {
  const base::TimePoint now = clock_.Now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::function<void()> work = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    work();
  }
}

void Background::Marked(const Target& target, const std::string& uid, std::chrono::seconds grace) {
  if (target.type->IsCore("namespaces")) ScheduleNamespace(target.name);
  if (!target.type->IsCore("pods") || grace.count() <= 0) return;
  Schedule(clock_.Now() + grace, [this, target, uid] { ReapPod(target, uid); });
}

void Background::Removed(const Value& last) {
  const std::string uid(api::Uid(last));
  if (!store_.objects().DependentsOf(uid).empty()) {
    Schedule(clock_.Now(), [this, uid] { CollectDependents(uid); });
  }
  // This may have been the last object of a terminating namespace.
  const std::string ns(api::Namespace(last));
  if (ns.empty()) return;
  const Registry& registry = store_.objects().registry();
  const ObjectPtr around = store_.objects().Find(*registry.Find("", "v1", "namespaces"), ns);
  if (around != nullptr && api::IsBeingDeleted(*around)) ScheduleNamespace(ns);
}

void Background::ScheduleNamespace(const std::string& name) {
  if (!namespaces_due_.insert(name).second) return;
  Schedule(clock_.Now(), [this, name] { FinalizeNamespace(name); });
}

// Deletes the objects in the namespace, and the namespace itself once it is empty.
void Background::FinalizeNamespace(const std::string& name) {
  const TypePtr type = store_.objects().registry().Find("", "v1", "namespaces");
  const ObjectPtr ns = store_.objects().Find(*type, name);
  const bool terminating = ns != nullptr && api::IsBeingDeleted(*ns);
  // Removals would only schedule this again, so it is still marked as due meanwhile.
  const bool empty = terminating && DeleteContents(name);
  namespaces_due_.erase(name);
  if (!empty) return;  // the removal of the last object calls this again
  Value body = *ns;
  body.Make({"metadata", "resourceVersion"}) = "";
  body.Make({"spec", "finalizers"}) = Array();
  static_cast<void>(store_.Update({type, "", name, "finalize"}, std::move(body)));
}

// Returns true if the namespace is empty.
bool Background::DeleteContents(const std::string& ns) {
  for (const Target& target : store_.objects().TargetsIn(ns)) {
    // Objects with a deletionTimestamp wait for their finalizers.
    const auto object = store_.objects().Current(target);
    if (object && !api::IsBeingDeleted(**object)) static_cast<void>(store_.Delete(target));
  }
  return store_.objects().TargetsIn(ns).empty();
}

void Background::ReapPod(const Target& target, const std::string& uid) {
  const auto current = store_.objects().Current(target);
  if (!current || api::Uid(**current) != uid) return;
  static_cast<void>(store_.Delete(target, {.grace_period_seconds = 0}));
}

// Deletes the dependents that have no owner left.
void Background::CollectDependents(const std::string& owner_uid) {
  const Objects& objects = store_.objects();
  for (const Target& target : objects.DependentsOf(owner_uid)) {
    const auto object = objects.Current(target);
    if (!object) continue;
    const Array& owners = (*object)->ArrayAt({"metadata", "ownerReferences"});
    const bool owned = std::any_of(owners.begin(), owners.end(), [&](const Value& owner) {
      return objects.IsStored(std::string(owner.StringAt({"uid"})));
    });
    if (!owned) static_cast<void>(store_.Delete(target));
  }
}

}  // namespace sandbox
