// The first two steps of a write: decodes the request, and applies the rules of its kind.

#include <algorithm>

#include "cmd/sandbox-apiserver/crd.h"
#include "cmd/sandbox-apiserver/managed_fields.h"
#include "cmd/sandbox-apiserver/object_rules.h"
#include "cmd/sandbox-apiserver/service_ports.h"
#include "cmd/sandbox-apiserver/store.h"
#include "pkg/api/object_meta.h"

namespace sandbox {
namespace {

using json::Object;
using json::Value;

// The error for a create in a namespace that is being deleted.
api::Status NamespaceTerminating(const Target& target) {
  api::Status status = api::Forbidden(
      target.type->group_resource(), target.name,
      "unable to create new content in namespace " + target.ns + " because it is being terminated");
  status.details.causes = {{.reason = "NamespaceTerminating",
                            .message = "namespace " + target.ns + " is being terminated",
                            .field = "metadata.namespace"}};
  return status;
}

// apiVersion and kind are those of the path, or absent.
Outcome<void> CheckKind(const ResourceType& type, Value& object) {
  const std::string_view version = api::ApiVersion(object);
  const std::string_view kind = api::Kind(object);
  if (!object.IsObject() || (!version.empty() && version != type.ApiVersion()) ||
      (!kind.empty() && kind != type.kind)) {
    return api::BadRequest("the object in the data does not match the expected " + type.kind +
                           " of version " + type.ApiVersion());
  }
  object.Make({"apiVersion"}) = type.ApiVersion();
  object.Make({"kind"}) = type.kind;
  Value& meta = object.Make({"metadata"});
  if (meta.IsNull()) meta = Object();
  if (!meta.IsObject()) return api::BadRequest("the metadata of the object are no object");
  return {};
}

Outcome<void> CheckNamespaceOfBody(const Target& target, Value& object) {
  const std::string_view ns = api::Namespace(object);
  if (ns.empty()) {
    if (target.type->namespaced) object.Make({"metadata", "namespace"}) = target.ns;
    return {};
  }
  if (ns == target.ns) return {};
  return api::BadRequest(
      "the namespace of the provided object does not match the namespace sent on the request");
}

Outcome<void> CheckNameOfBody(const Target& target, const Value& object) {
  const std::string_view name = api::Name(object);
  if (name == target.name) return {};
  return api::BadRequest("the name of the object (" + std::string(name) +
                         ") does not match the name on the URL (" + target.name + ")");
}

bool NamesVersion(const Value& patch) {
  if (patch.IsObject()) return !patch.StringAt({"metadata", "resourceVersion"}).empty();
  if (!patch.IsArray()) return false;
  return std::any_of(patch.AsArray()->begin(), patch.AsArray()->end(), [](const Value& operation) {
    return operation.StringAt({"path"}) == "/metadata/resourceVersion" &&
           operation.StringAt({"op"}) != "test";
  });
}

// Sets a member of metadata to its value in `old`, or removes it.
void Keep(Value& object, const Value& old, std::string_view member) {
  Object& meta = *object.Make({"metadata"}).AsObject();
  if (const Value* stored = old.At({"metadata", member})) {
    meta.Set(member, *stored);
  } else {
    meta.Erase(member);
  }
}

// Preconditions of a body: its uid and version, if given, are the stored ones.
Outcome<void> CheckUid(const PendingWrite& write) {
  const std::string uid(api::Uid(write.object));
  const std::string stored(api::Uid(*write.old_object));
  if (uid.empty() || uid == stored) return {};
  return api::Conflict(
      write.target.type->group_resource(), write.target.name,
      "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + stored);
}

Outcome<void> CheckVersion(const PendingWrite& write) {
  const std::string_view version = api::ResourceVersion(write.object);
  if (version.empty() || version == api::ResourceVersion(*write.old_object)) return {};
  return api::ModifiedConflict(write.target.type->group_resource(), write.target.name);
}

// The precondition of a deletion is not met.
api::Status FailedPrecondition(const Target& target, std::string_view what,
                               const std::string& wanted, const std::string& stored) {
  return api::Conflict({target.type->group, target.type->kind}, target.name,
                       "the " + std::string(what) + " in the precondition (" + wanted +
                           ") does not match the " + std::string(what) + " in record (" + stored +
                           ")");
}

// Returns the object after the patch.
Outcome<Value> Patched(const ResourceType& type, const Value& current, const PatchRequest& patch) {
  switch (patch.type) {
    case PatchType::kJson:
      return ApplyJsonPatch(current, patch.body);
    case PatchType::kMerge:
      if (!patch.body.IsObject()) return api::BadRequest("a merge patch must be an object");
      return ApplyMergePatch(current, patch.body);
    case PatchType::kStrategic:
      return ApplyStrategicMergePatch(current, patch.body);
    case PatchType::kApply:
      return ApplyServerSide(current, patch.body, type.custom);
  }
  return api::InternalError("unknown patch type");
}

}  // namespace

Outcome<DeleteOptions> DeleteOptions::FromJson(const Value& body) {
  DeleteOptions options;
  if (body.IsNull()) return options;
  if (!body.IsObject()) return api::BadRequest("DeleteOptions must be an object");
  if (const Value* grace = body.At({"gracePeriodSeconds"}); grace != nullptr && !grace->IsNull()) {
    options.grace_period_seconds = grace->AsInt64();
    if (!options.grace_period_seconds) {
      return api::BadRequest("gracePeriodSeconds must be an integer");
    }
  }
  options.uid = body.StringAt({"preconditions", "uid"});
  options.resource_version = body.StringAt({"preconditions", "resourceVersion"});
  if (const Value* dry_run = body.At({"dryRun"}); dry_run != nullptr && dry_run->IsArray()) {
    options.dry_run = !dry_run->AsArray()->empty();
  }
  return options;
}

Outcome<void> Store::CheckNamespaceForCreate(const Target& target) const {
  if (!target.type->namespaced) return {};
  const TypePtr namespaces = registry_.Find("", "v1", "namespaces");
  const ObjectPtr ns = FindStored(*namespaces, target.ns);
  if (ns == nullptr) return api::NotFound(namespaces->group_resource(), target.ns);
  if (api::IsBeingDeleted(*ns)) return NamespaceTerminating(target);
  return {};
}

// Prunes unknown fields of custom resources, sets defaults, and makes quantities canonical.
Outcome<void> Store::Decode(PendingWrite& write) const {
  const ResourceType& type = *write.target.type;
  if (type.custom && type.schema != nullptr) {
    const std::vector<std::string> unknown = Prune(*type.schema, write.object);
    std::string listed;
    for (const std::string& path : unknown) {
      const std::string text = "unknown field " + json::Quote(path);
      listed += (listed.empty() ? "" : ", ") + text;
      if (write.options.field_validation == FieldValidation::kWarn) write.warnings.push_back(text);
    }
    if (!unknown.empty() && write.options.field_validation == FieldValidation::kStrict) {
      return api::BadRequest(type.kind + " in version \"" + type.version +
                             "\" cannot be handled as a " + type.kind +
                             ": strict decoding error: " + listed);
    }
  }
  return ApplyDefaults(type, write.object);
}

Outcome<PendingWrite> Store::PrepareCreate(const Target& target, Value body,
                                           const WriteOptions& options) {
  const ResourceType& type = *target.type;
  PendingWrite write;
  write.target = target;
  write.object = std::move(body);
  write.dry_run = options.dry_run;
  write.options = options;
  if (auto checked = CheckKind(type, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  // kube-apiserver returns a plain error here, which has the code 500 and no reason.
  if (!api::ResourceVersion(write.object).empty()) {
    api::Status status;
    status.code = 500;
    status.message = "resourceVersion should not be set on objects to be created";
    return status;
  }
  write.target.name = api::Name(write.object);
  if (auto checked = CheckNamespaceForCreate(write.target); !checked) return checked.error();
  Object& meta = *write.object.Make({"metadata"}).AsObject();
  for (std::string_view member : {"uid", "creationTimestamp", "deletionTimestamp", "selfLink",
                                  "deletionGracePeriodSeconds", "resourceVersion", "generation"}) {
    meta.Erase(member);
  }
  if (auto decoded = Decode(write); !decoded) return decoded.error();
  return write;
}

Outcome<PendingWrite> Store::PrepareUpdate(const Target& target, Value body,
                                           const WriteOptions& options) {
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kUpdate;
  write.object = std::move(body);
  write.dry_run = options.dry_run;
  write.options = options;
  if (auto checked = CheckKind(*target.type, write.object); !checked) return checked.error();
  if (auto checked = CheckNameOfBody(target, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  auto current = Current(target);
  if (!current) return current.error();
  write.old_object = *current;
  write.unconditional = api::ResourceVersion(write.object).empty();
  // Custom resources do not allow an update without a version.
  if (write.unconditional && target.type->custom) {
    return api::Invalid(target.type->group, target.type->resource, target.name,
                        {{.reason = "FieldValueInvalid",
                          .message = "Invalid value: 0: must be specified for an update",
                          .field = "metadata.resourceVersion"}});
  }
  if (auto checked = CheckUid(write); !checked) return checked.error();
  if (auto checked = CheckVersion(write); !checked) return checked.error();
  if (auto decoded = Decode(write); !decoded) return decoded.error();
  return write;
}

Outcome<PendingWrite> Store::PreparePatch(const Target& target, const PatchRequest& patch,
                                          const WriteOptions& options) {
  const ResourceType& type = *target.type;
  if (type.custom && patch.type == PatchType::kStrategic) {
    return api::UnsupportedMediaType({"application/json-patch+json", "application/merge-patch+json",
                                      "application/apply-patch+yaml"});
  }
  const bool apply = patch.type == PatchType::kApply;
  if (apply && options.field_manager.empty()) {
    return api::BadRequest("fieldManager is required for apply patch");
  }
  auto current = Get(target);
  if (!current) {
    if (!apply || !target.subresource.empty()) return current.error();
    auto created = Patched(type, Value(Object()), patch);
    if (!created) return created.error();
    if (api::Name(*created).empty()) created->Make({"metadata", "name"}) = target.name;
    if (auto checked = CheckNameOfBody(target, *created); !checked) return checked.error();
    return PrepareCreate(target, std::move(*created), options);
  }
  auto patched = Patched(type, **current, patch);
  if (!patched) return patched.error();
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kUpdate;
  write.object = std::move(*patched);
  write.old_object = *Current(target);
  write.dry_run = options.dry_run;
  write.options = options;
  write.unconditional = !NamesVersion(patch.body);
  if (auto checked = CheckKind(type, write.object); !checked) return checked.error();
  if (auto checked = CheckNameOfBody(target, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  // A patch with another uid is not a failed precondition: it changes an immutable field.
  if (auto checked = CheckVersion(write); !checked) return checked.error();
  if (auto decoded = Decode(write); !decoded) return decoded.error();
  return write;
}

Outcome<PendingWrite> Store::PrepareDelete(const Target& target, const DeleteOptions& options) {
  auto current = Current(target);
  if (!current) return current.error();
  const api::GroupResource resource = target.type->group_resource();
  const std::string uid(api::Uid(**current));
  if (!options.uid.empty() && options.uid != uid) {
    return FailedPrecondition(target, "UID", options.uid, uid);
  }
  const std::string version(api::ResourceVersion(**current));
  if (!options.resource_version.empty() && options.resource_version != version) {
    return FailedPrecondition(target, "ResourceVersion", options.resource_version, version);
  }
  // As the plugin NamespaceLifecycle of apiserver v0.36.3.
  const bool eternal =
      target.name == "default" || target.name == "kube-system" || target.name == "kube-public";
  if (target.type->IsCore("namespaces") && eternal) {
    return api::Forbidden(resource, target.name, "this namespace may not be deleted");
  }
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kDelete;
  write.old_object = *current;
  write.dry_run = options.dry_run;
  write.unconditional = options.resource_version.empty();
  write.delete_options = options;
  return write;
}

Outcome<void> Store::Complete(PendingWrite& write) {
  switch (write.operation) {
    case Operation::kCreate:
      return CompleteCreate(write);
    case Operation::kUpdate:
      return CompleteUpdate(write);
    case Operation::kDelete:
      return {};
  }
  return {};
}

Outcome<void> Store::CompleteCreate(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  // Again, because webhooks may have changed the object.
  if (auto defaulted = ApplyDefaults(type, write.object); !defaulted) return defaulted;
  EnsureName(write);
  write.object.Make({"metadata", "uid"}) = NewUid();
  write.object.Make({"metadata", "creationTimestamp"}) = Timestamp();
  if (HasGeneration(type)) write.object.Make({"metadata", "generation"}) = 1;
  PrepareForCreate(type, write.object);
  if (auto assigned = AssignPorts(write); !assigned) return assigned;
  FieldErrors errors = ValidateMeta(type, write.object);
  errors.Append(ValidateObject(type, write.object));
  if (!errors.empty()) return errors.ToStatus(type, write.target.name);
  return {};
}

Outcome<void> Store::CompleteUpdate(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  const Value old = *InVersion(write.old_object, type);
  Value& object = write.object;
  if (auto defaulted = ApplyDefaults(type, object); !defaulted) return defaulted;
  PrepareForUpdate(type, object, old, write.target.subresource);
  for (std::string_view member : {"creationTimestamp", "deletionTimestamp", "generation",
                                  "deletionGracePeriodSeconds", "resourceVersion", "selfLink"}) {
    Keep(object, old, member);
  }
  if (auto assigned = AssignPorts(write); !assigned) return assigned;
  // A different uid stays, so that validation refuses it.
  if (api::Uid(object).empty()) Keep(object, old, "uid");
  if (object.At({"metadata", "managedFields"}) == nullptr) Keep(object, old, "managedFields");
  if (HasGeneration(type) && SpecChanged(type, object, old)) {
    const Value* const before = old.At({"metadata", "generation"});
    const std::int64_t number = before != nullptr ? before->AsInt64().value_or(0) : 0;
    object.Make({"metadata", "generation"}) = number + 1;
  }
  FieldErrors errors = ValidateMeta(type, object);
  errors.Append(ValidateMetaUpdate(object, old));
  errors.Append(ValidateObject(type, object));
  if (!errors.empty()) return errors.ToStatus(type, write.target.name);
  if (write.target.subresource == "status") {
    const std::string& manager = write.options.field_manager;
    RecordStatusUpdate(old, object,
                       {manager.empty() ? "unknown" : manager, type.ApiVersion(), Timestamp()});
  }
  return {};
}

Outcome<void> Store::AssignPorts(PendingWrite& write) const {
  if (!write.target.type->IsCore("services") || !write.target.subresource.empty()) return {};
  std::set<std::int64_t> taken;
  if (const Collection* services = FindCollection(*write.target.type)) {
    for (const auto& [key, service] : services->objects) CollectNodePorts(*service, taken);
  }
  if (AssignNodePorts(write.object, std::move(taken))) return {};
  return api::InternalError("failed to allocate a nodePort: range is full");
}

void Store::EnsureName(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  // At most 63 characters with the suffix, and up to 8 tries (KEP-4420).
  const std::string base =
      std::string(write.object.StringAt({"metadata", "generateName"})).substr(0, 58);
  if (api::Name(write.object).empty() && !base.empty()) {
    std::string name;
    for (int tries = 0; tries < 8; ++tries) {
      name = base + RandomSuffix();
      if (FindStored(type, KeyOf(write.target.ns, name)) == nullptr) break;
    }
    write.object.Make({"metadata", "name"}) = name;
  }
  write.target.name = api::Name(write.object);
}

std::string Store::RandomSuffix() {
  // No vowels, as in apimachinery v0.36.3, pkg/util/rand/rand.go, so that no words appear.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[random_() % kLetters.size()];
  return suffix;
}

std::string Store::NewUid() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uid = "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
  for (char& c : uid) {
    if (c == 'x') c = kDigits[random_() % 16];
    if (c == 'v') c = kDigits[8 + random_() % 4];
  }
  return uid;
}

}  // namespace sandbox
