// The last step of a write: changes the object, adds the event to the history, and completes a
// deletion.

#include <algorithm>

#include "cmd/sandbox-apiserver/crd.h"
#include "cmd/sandbox-apiserver/object_rules.h"
#include "cmd/sandbox-apiserver/store.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::int64_t kDefaultGrace = 30;

api::Status AlreadyExistsBeingDeleted(const ResourceType& type, std::string_view name) {
  api::Status status = api::AlreadyExists(type.group_resource(), name);
  status.message = "object is being deleted: " + status.message;
  return status;
}

bool IsCrd(const ResourceType& type) {
  return type.group == "apiextensions.k8s.io" && type.resource == "customresourcedefinitions";
}

bool HasFinalizers(const ResourceType& type, const Value& object) {
  const auto filled = [&](std::initializer_list<std::string_view> path) {
    const Value* const list = object.At(path);
    return list != nullptr && list->IsArray() && !list->AsArray()->empty();
  };
  return filled({"metadata", "finalizers"}) ||
         (type.IsCore("namespaces") && filled({"spec", "finalizers"}));
}

std::int64_t GraceOf(const Value& object) {
  const Value* const grace = object.At({"metadata", "deletionGracePeriodSeconds"});
  return grace != nullptr ? grace->AsInt64().value_or(0) : 0;
}

// The grace period of this deletion; zero except for scheduled pods that still run (kubernetes
// v1.36.3, pkg/registry/core/pod/strategy.go). A negative request means one second.
std::int64_t GraceFor(const ResourceType& type, const Value& object, const DeleteOptions& options) {
  if (!type.IsCore("pods") || object.StringAt({"spec", "nodeName"}).empty()) return 0;
  const std::string_view phase = object.StringAt({"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return 0;
  const Value* const own = object.At({"spec", "terminationGracePeriodSeconds"});
  const std::int64_t fallback =
      own != nullptr ? own->AsInt64().value_or(kDefaultGrace) : kDefaultGrace;
  const std::int64_t grace = options.grace_period_seconds.value_or(fallback);
  return grace < 0 ? 1 : grace;
}

// Kinds whose removal is answered with the object.
bool AnswersWithObject(const ResourceType& type) {
  if (!type.group.empty()) return false;
  constexpr std::string_view kKinds[] = {"Pod",         "PersistentVolume", "PersistentVolumeClaim",
                                         "PodTemplate", "ResourceQuota",    "ServiceAccount",
                                         "Service"};
  return std::find(std::begin(kKinds), std::end(kKinds), type.kind) != std::end(kKinds);
}

}  // namespace

Outcome<WriteResult> Store::Commit(PendingWrite write) {
  switch (write.operation) {
    case Operation::kCreate:
      return CommitCreate(std::move(write));
    case Operation::kUpdate:
      return CommitUpdate(std::move(write));
    case Operation::kDelete:
      return CommitDelete(std::move(write));
  }
  return api::InternalError("unknown operation");
}

Outcome<WriteResult> Store::CommitCreate(PendingWrite write) {
  const TypePtr& type = write.target.type;
  if (const ObjectPtr taken = FindStored(*type, KeyOf(write.object))) {
    return api::IsBeingDeleted(*taken)
               ? AlreadyExistsBeingDeleted(*type, write.target.name)
               : api::AlreadyExists(type->group_resource(), write.target.name);
  }
  // The namespace's deletion may have begun during the calls of webhooks.
  if (auto checked = CheckNamespaceForCreate(write.target); !checked) return checked.error();
  if (IsCrd(*type)) SetEstablished(write.object, Timestamp());
  WriteResult result;
  result.created = true;
  result.warnings = std::move(write.warnings);
  if (write.dry_run) {
    result.object = std::make_shared<const Value>(std::move(write.object));
    return result;
  }
  result.changed = true;
  result.object = InVersion(Put(type, std::move(write.object), nullptr), *type);
  return result;
}

Outcome<WriteResult> Store::CommitUpdate(PendingWrite write) {
  const TypePtr& type = write.target.type;
  auto current = Current(write.target);
  if (!current) return current.error();
  if (*current != write.old_object) {
    return api::ModifiedConflict(type->group_resource(), write.target.name);
  }
  if (IsCrd(*type)) SetEstablished(write.object, Timestamp());
  // An update that changes nothing makes no version and no event.
  const bool same = write.object == *InVersion(*current, *type);
  // An update that removes the last finalizer completes the deletion.
  const bool leaving = api::IsBeingDeleted(write.object) && GraceOf(write.object) == 0 &&
                       !HasFinalizers(*type, write.object);
  WriteResult result;
  result.warnings = std::move(write.warnings);
  if (write.dry_run || (same && !leaving)) {
    result.object = write.dry_run ? std::make_shared<const Value>(std::move(write.object))
                                  : InVersion(*current, *type);
    return result;
  }
  result.changed = true;
  result.removed = leaving;
  if (leaving) {
    // The answer keeps the version before the removal; only the event has a new one.
    Remove(type, write.object, *current);
    result.object = std::make_shared<const Value>(std::move(write.object));
  } else {
    result.object = InVersion(Put(type, std::move(write.object), *current), *type);
  }
  return result;
}

// Returns the object with the metadata of a deletion that must wait.
Value Store::MarkedForDeletion(const PendingWrite& write, std::int64_t grace) const {
  const ResourceType& type = *write.target.type;
  Value object = *write.old_object;
  const bool marked = api::IsBeingDeleted(object);
  // A repeated deletion may only shorten the grace period.
  if (marked && GraceOf(object) <= grace) return object;
  object.Make({"metadata", "deletionTimestamp"}) =
      api::FormatTime(clock_.WallNow() + std::chrono::seconds(grace));
  object.Make({"metadata", "deletionGracePeriodSeconds"}) = grace;
  if (type.IsCore("namespaces")) object.Make({"status", "phase"}) = "Terminating";
  // A deletion changes what controllers do, so it raises the generation.
  if (!marked && HasGeneration(type)) {
    const Value* const generation = object.At({"metadata", "generation"});
    object.Make({"metadata", "generation"}) =
        (generation != nullptr ? generation->AsInt64().value_or(0) : 0) + 1;
  }
  return object;
}

Outcome<WriteResult> Store::CommitDelete(PendingWrite write) {
  const TypePtr& type = write.target.type;
  auto current = Current(write.target);
  if (!current) return current.error();
  if (*current != write.old_object) {
    // Without a version in its preconditions, a deletion applies to the newest state of the object.
    if (!write.unconditional || api::Uid(**current) != api::Uid(*write.old_object)) {
      return api::ModifiedConflict(type->group_resource(), write.target.name);
    }
    write.old_object = *current;
  }
  const std::int64_t grace = GraceFor(*type, **current, write.delete_options);
  Value marked = MarkedForDeletion(write, grace);
  if (grace > 0 || HasFinalizers(*type, marked)) return CommitMarked(write, std::move(marked));
  if (write.dry_run) return RemovedResult(write, *current);
  ObjectPtr last = *current;
  // A watch shows a pod's deletionTimestamp before its DELETED event, even without a grace period.
  if (type->IsCore("pods") && !(marked == *last)) last = Put(type, std::move(marked), last);
  return RemovedResult(write, Remove(type, *last, last));
}

Outcome<WriteResult> Store::CommitMarked(const PendingWrite& write, Value marked) {
  const TypePtr& type = write.target.type;
  WriteResult result;
  if (write.dry_run || marked == *write.old_object) {
    result.object = InVersion(std::make_shared<const Value>(std::move(marked)), *type);
    return result;
  }
  result.changed = true;
  const std::string uid(api::Uid(marked));
  const std::int64_t grace = GraceOf(marked);
  result.object = InVersion(Put(type, std::move(marked), write.old_object), *type);
  if (type->IsCore("namespaces")) ScheduleNamespace(write.target.name);
  if (type->IsCore("pods") && grace > 0) {
    Schedule(clock_.Now() + std::chrono::seconds(grace),
             [this, target = write.target, uid] { ReapPod(target, uid); });
  }
  return result;
}

WriteResult Store::RemovedResult(const PendingWrite& write, const ObjectPtr& last) const {
  WriteResult result;
  result.object = InVersion(last, *write.target.type);
  result.changed = !write.dry_run;
  result.removed = true;
  result.show_status = !AnswersWithObject(*write.target.type);
  return result;
}

ObjectPtr Store::Put(const TypePtr& type, Value object, const ObjectPtr& old) {
  if (type->custom) object.Make({"apiVersion"}) = type->group + "/" + type->storage_version;
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  auto stored = std::make_shared<const Value>(std::move(object));
  if (old != nullptr) Index(*type, *old, false);
  Index(*type, *stored, true);
  Collection& collection = CollectionOf(*type);
  collection.objects[KeyOf(*stored)] = stored;
  collection.history->Append(
      {version_, old == nullptr ? EventType::kAdded : EventType::kModified, stored, old});
  if (IsCrd(*type)) AfterPut(stored, old);
  return stored;
}

ObjectPtr Store::Remove(const TypePtr& type, const Value& last, const ObjectPtr& old) {
  Value object = last;
  if (type->custom) object.Make({"apiVersion"}) = type->group + "/" + type->storage_version;
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  auto removed = std::make_shared<const Value>(std::move(object));
  Index(*type, *old, false);
  Collection& collection = CollectionOf(*type);
  collection.objects.erase(KeyOf(*old));
  collection.history->Append({version_, EventType::kDeleted, removed, old});
  AfterRemove(type, *removed);
  return removed;
}

void Store::Index(const ResourceType& type, const Value& object, bool add) {
  const std::string uid(api::Uid(object));
  if (add) {
    uids_.insert(uid);
  } else {
    uids_.erase(uid);
  }
  const Value* const owners = object.At({"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->IsArray()) return;
  for (const Value& owner : *owners->AsArray()) {
    const std::string owner_uid(owner.StringAt({"uid"}));
    const std::pair<api::GroupResource, std::string> key{type.group_resource(), KeyOf(object)};
    if (add) {
      dependents_[owner_uid].insert(key);
    } else if (auto found = dependents_.find(owner_uid); found != dependents_.end()) {
      found->second.erase(key);
      if (found->second.empty()) dependents_.erase(found);
    }
  }
}

// A definition was stored: serve what it defines. As with a kube-apiserver, a change of it ends the
// watches of all its versions.
void Store::AfterPut(const ObjectPtr& object, const ObjectPtr& old) {
  if (api::IsBeingDeleted(*object)) return;
  std::vector<ResourceType> types = TypesOfCrd(*object);
  const bool changed = old != nullptr && *old->At({"spec"}) != *object->At({"spec"});
  for (const ResourceType& type : types) {
    History& history = *CollectionOf(type).history;
    history.Reopen();
    if (changed) history.EndWatches();
  }
  registry_.SetCustom(std::string(api::Name(*object)), std::move(types));
}

void Store::AfterRemove(const TypePtr& type, const Value& last) {
  if (IsCrd(*type)) DropCrd(last);
  const std::string uid(api::Uid(last));
  if (dependents_.count(uid) != 0) {
    Schedule(clock_.Now(), [this, uid] { CollectDependents(uid); });
  }
  // This may have been the last object of a terminating namespace.
  const std::string ns(api::Namespace(last));
  if (ns.empty()) return;
  const ObjectPtr around = FindStored(*registry_.Find("", "v1", "namespaces"), ns);
  if (around != nullptr && api::IsBeingDeleted(*around)) ScheduleNamespace(ns);
}

}  // namespace sandbox
