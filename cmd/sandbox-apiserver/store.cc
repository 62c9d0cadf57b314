#include "cmd/sandbox-apiserver/store.h"

#include "cmd/sandbox-apiserver/crd.h"
#include "cmd/sandbox-apiserver/object_rules.h"
#include "cmd/sandbox-apiserver/write_checks.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

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
  return !object.ArrayAt({"metadata", "finalizers"}).empty() ||
         (type.IsCore("namespaces") && !object.ArrayAt({"spec", "finalizers"}).empty());
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
  return base::IsOneOf(type.kind, {"Pod", "PersistentVolume", "PersistentVolumeClaim",
                                   "PodTemplate", "ResourceQuota", "ServiceAccount", "Service"});
}

// Returns the object with the metadata of a deletion that must wait.
Value MarkedForDeletion(const PendingWrite& write, std::int64_t grace, base::WallTime now) {
  const ResourceType& type = *write.target.type;
  Value object = *write.old_object;
  const bool marked = api::IsBeingDeleted(object);
  // A repeated deletion may only shorten the grace period.
  if (marked && GraceOf(object) <= grace) return object;
  object.Make({"metadata", "deletionTimestamp"}) =
      api::FormatTime(now + std::chrono::seconds(grace));
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

WriteResult RemovedResult(const PendingWrite& write, const ObjectPtr& last) {
  WriteResult result;
  result.object = InVersion(last, *write.target.type);
  result.changed = !write.dry_run;
  result.removed = true;
  result.show_status = !AnswersWithObject(*write.target.type);
  return result;
}

}  // namespace

Store::Store(Registry& registry, const base::Clock& clock, StoreOptions options)
    : registry_(registry),
      clock_(clock),
      objects_(registry, options.history, options.first_version),
      preparer_(objects_, clock, options.seed),
      background_(*this, clock) {
  const TypePtr namespaces = registry_.Find("", "v1", "namespaces");
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    static_cast<void>(
        Create({namespaces, "", "", ""}, json::Object{{"metadata", json::Object{{"name", name}}}}));
  }
}

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
  if (const ObjectPtr taken = objects_.Find(*type, KeyOf(write.object))) {
    return api::IsBeingDeleted(*taken)
               ? AlreadyExistsBeingDeleted(*type, write.target.name)
               : api::AlreadyExists(type->group_resource(), write.target.name);
  }
  // The namespace's deletion may have begun during the calls of webhooks.
  if (auto checked = CheckNamespaceForCreate(objects_, write.target); !checked) {
    return checked.error();
  }
  if (IsCrd(*type)) SetEstablished(write.object, api::FormatTime(clock_.WallNow()));
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
  auto current = objects_.Current(write.target);
  if (!current) return current.error();
  if (*current != write.old_object) {
    return api::ModifiedConflict(type->group_resource(), write.target.name);
  }
  if (IsCrd(*type)) SetEstablished(write.object, api::FormatTime(clock_.WallNow()));
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

Outcome<WriteResult> Store::CommitDelete(PendingWrite write) {
  const TypePtr& type = write.target.type;
  auto current = objects_.Current(write.target);
  if (!current) return current.error();
  if (*current != write.old_object) {
    // Without a version in its preconditions, a deletion applies to the newest state of the object.
    if (!write.unconditional || api::Uid(**current) != api::Uid(*write.old_object)) {
      return api::ModifiedConflict(type->group_resource(), write.target.name);
    }
    write.old_object = *current;
  }
  const std::int64_t grace = GraceFor(*type, **current, write.delete_options);
  Value marked = MarkedForDeletion(write, grace, clock_.WallNow());
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
  const ObjectPtr stored = Put(type, std::move(marked), write.old_object);
  background_.Marked(write.target, std::string(api::Uid(*stored)),
                     std::chrono::seconds(GraceOf(*stored)));
  result.object = InVersion(stored, *type);
  return result;
}

Outcome<WriteResult> Store::Finish(Outcome<PendingWrite> write) {
  if (!write) return write.error();
  if (auto completed = preparer_.Complete(*write); !completed) return completed.error();
  return Commit(*std::move(write));
}

Outcome<WriteResult> Store::Create(const Target& target, Value body, const WriteOptions& options) {
  return Finish(preparer_.Create(target, std::move(body), options));
}

Outcome<WriteResult> Store::Update(const Target& target, Value body, const WriteOptions& options) {
  return Finish(preparer_.Update(target, std::move(body), options));
}

Outcome<WriteResult> Store::Patch(const Target& target, const PatchRequest& patch,
                                  const WriteOptions& options) {
  return Finish(preparer_.Patch(target, patch, options));
}

Outcome<WriteResult> Store::Delete(const Target& target, const DeleteOptions& options) {
  return Finish(preparer_.Delete(target, options));
}

ObjectPtr Store::Put(const TypePtr& type, Value object, const ObjectPtr& old) {
  ObjectPtr stored = objects_.Put(type, std::move(object), old);
  if (IsCrd(*type) && !api::IsBeingDeleted(*stored)) Serve(*stored, old);
  return stored;
}

ObjectPtr Store::Remove(const TypePtr& type, const Value& last, const ObjectPtr& old) {
  ObjectPtr removed = objects_.Remove(type, last, old);
  if (IsCrd(*type)) StopServing(*removed);
  background_.Removed(*removed);
  return removed;
}

// As with a kube-apiserver, a change of a definition ends the watches of all its versions.
void Store::Serve(const Value& crd, const ObjectPtr& old) {
  std::vector<ResourceType> types = TypesOfCrd(crd);
  const bool changed = old != nullptr && *old->At({"spec"}) != *crd.At({"spec"});
  for (const ResourceType& type : types) {
    History& history = objects_.HistoryOf(type);
    history.Reopen();
    if (changed) history.EndWatches();
  }
  registry_.SetCustom(std::string(api::Name(crd)), std::move(types));
}

// The objects of the kind go with its definition, and its watches end.
void Store::StopServing(const Value& crd) {
  const TypePtr type = registry_.FindAny({std::string(crd.StringAt({"spec", "group"})),
                                          std::string(crd.StringAt({"spec", "names", "plural"}))});
  if (type == nullptr || !type->custom) return;
  const Outcome<ListPage> page = objects_.List(type, {});
  for (const ObjectPtr& object : page->items) {
    Remove(type, *object, objects_.Find(*type, KeyOf(*object)));
  }
  registry_.SetCustom(std::string(api::Name(crd)), {});
  objects_.HistoryOf(*type).Close();
}

}  // namespace sandbox
