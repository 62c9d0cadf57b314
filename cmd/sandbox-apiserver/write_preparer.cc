#include "cmd/sandbox-apiserver/write_preparer.h"

#include "cmd/sandbox-apiserver/crd.h"
#include "cmd/sandbox-apiserver/managed_fields.h"
#include "cmd/sandbox-apiserver/object_rules.h"
#include "cmd/sandbox-apiserver/service_ports.h"
#include "cmd/sandbox-apiserver/write_checks.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"

namespace sandbox {
namespace {

using json::Object;
using json::Value;

// Sets a member of metadata to its value in `old`, or removes it.
void Keep(Value& object, const Value& old, std::string_view member) {
  Object& meta = *object.Make({"metadata"}).AsObject();
  if (const Value* stored = old.At({"metadata", member})) {
    meta.Set(member, *stored);
  } else {
    meta.Erase(member);
  }
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

// Prunes unknown fields of custom resources, sets defaults, and makes quantities canonical.
Outcome<void> Decode(PendingWrite& write) {
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

Outcome<void> AssignPorts(const Objects& objects, PendingWrite& write) {
  if (!write.target.type->IsCore("services") || !write.target.subresource.empty()) return {};
  std::set<std::int64_t> taken;
  const Outcome<ListPage> services = objects.List(write.target.type, {});
  for (const ObjectPtr& service : services->items) CollectNodePorts(*service, taken);
  if (AssignNodePorts(write.object, std::move(taken))) return {};
  return api::InternalError("failed to allocate a nodePort: range is full");
}

}  // namespace

WritePreparer::WritePreparer(const Objects& objects, const base::Clock& clock, std::uint64_t seed)
    : objects_(objects), clock_(clock), random_(seed != 0 ? seed : std::random_device()()) {}

Outcome<PendingWrite> WritePreparer::Create(const Target& target, Value body,
                                            const WriteOptions& options) const {
  const ResourceType& type = *target.type;
  PendingWrite write;
  write.target = target;
  write.object = std::move(body);
  write.dry_run = options.dry_run;
  write.options = options;
  if (auto checked = CheckKind(type, write.object); !checked) return checked.error();
  if (auto checked = CheckMetadata(type, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  // kube-apiserver returns a plain error here, which has the code 500 and no reason.
  if (!api::ResourceVersion(write.object).empty()) {
    api::Status status;
    status.code = 500;
    status.message = "resourceVersion should not be set on objects to be created";
    return status;
  }
  write.target.name = api::Name(write.object);
  if (auto checked = CheckNamespaceForCreate(objects_, write.target); !checked) {
    return checked.error();
  }
  Object& meta = *write.object.Make({"metadata"}).AsObject();
  for (std::string_view member : {"uid", "creationTimestamp", "deletionTimestamp", "selfLink",
                                  "deletionGracePeriodSeconds", "resourceVersion", "generation"}) {
    meta.Erase(member);
  }
  if (auto decoded = Decode(write); !decoded) return decoded.error();
  return write;
}

Outcome<PendingWrite> WritePreparer::Update(const Target& target, Value body,
                                            const WriteOptions& options) const {
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kUpdate;
  write.object = std::move(body);
  write.dry_run = options.dry_run;
  write.options = options;
  if (auto checked = CheckKind(*target.type, write.object); !checked) return checked.error();
  if (auto checked = CheckMetadata(*target.type, write.object); !checked) return checked.error();
  if (auto checked = CheckNameOfBody(target, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  auto current = objects_.Current(target);
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

Outcome<PendingWrite> WritePreparer::Patch(const Target& target, const PatchRequest& patch,
                                           const WriteOptions& options) const {
  const ResourceType& type = *target.type;
  if (type.custom && patch.type == PatchType::kStrategic) {
    return api::UnsupportedMediaType({"application/json-patch+json", "application/merge-patch+json",
                                      "application/apply-patch+yaml"});
  }
  const bool apply = patch.type == PatchType::kApply;
  if (apply && options.field_manager.empty()) {
    return api::BadRequest("fieldManager is required for apply patch");
  }
  auto current = objects_.Get(target);
  if (!current) {
    if (!apply || !target.subresource.empty()) return current.error();
    auto created = Patched(type, Value(Object()), patch);
    if (!created) return created.error();
    if (api::Name(*created).empty()) created->Make({"metadata", "name"}) = target.name;
    if (auto checked = CheckNameOfBody(target, *created); !checked) return checked.error();
    return Create(target, std::move(*created), options);
  }
  auto patched = Patched(type, **current, patch);
  if (!patched) return patched.error();
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kUpdate;
  write.object = std::move(*patched);
  write.old_object = *objects_.Current(target);
  write.dry_run = options.dry_run;
  write.options = options;
  write.unconditional = !NamesVersion(patch.body);
  if (auto checked = CheckKind(type, write.object); !checked) return checked.error();
  const std::string why = MetadataMismatch(write.object);
  if (!why.empty()) {
    FieldErrors errors;
    errors.Invalid("patch", json::Write(patch.body), why);
    return errors.ToStatus(ResourceType(), "");
  }
  if (auto checked = CheckNameOfBody(target, write.object); !checked) return checked.error();
  if (auto checked = CheckNamespaceOfBody(target, write.object); !checked) return checked.error();
  // A patch with another uid is not a failed precondition: it changes an immutable field.
  if (auto checked = CheckVersion(write); !checked) return checked.error();
  if (auto decoded = Decode(write); !decoded) return decoded.error();
  return write;
}

Outcome<PendingWrite> WritePreparer::Delete(const Target& target,
                                            const DeleteOptions& options) const {
  auto current = objects_.Current(target);
  if (!current) return current.error();
  if (auto checked = CheckDeletion(target, **current, options); !checked) return checked.error();
  PendingWrite write;
  write.target = target;
  write.operation = Operation::kDelete;
  write.old_object = *current;
  write.dry_run = options.dry_run;
  write.unconditional = options.resource_version.empty();
  write.delete_options = options;
  return write;
}

Outcome<void> WritePreparer::Complete(PendingWrite& write) {
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

Outcome<void> WritePreparer::CompleteCreate(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  // Again, because webhooks may have changed the object.
  if (auto defaulted = ApplyDefaults(type, write.object); !defaulted) return defaulted;
  EnsureName(write);
  write.object.Make({"metadata", "uid"}) = NewUid();
  write.object.Make({"metadata", "creationTimestamp"}) = Timestamp();
  if (HasGeneration(type)) write.object.Make({"metadata", "generation"}) = 1;
  PrepareForCreate(type, write.object);
  if (auto assigned = AssignPorts(objects_, write); !assigned) return assigned;
  FieldErrors errors = ValidateMeta(type, write.object);
  errors.Append(ValidateObject(type, write.object));
  if (!errors.empty()) return errors.ToStatus(type, write.target.name);
  return {};
}

Outcome<void> WritePreparer::CompleteUpdate(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  const Value old = *InVersion(write.old_object, type);
  Value& object = write.object;
  if (auto defaulted = ApplyDefaults(type, object); !defaulted) return defaulted;
  PrepareForUpdate(type, object, old, write.target.subresource);
  for (std::string_view member : {"creationTimestamp", "deletionTimestamp", "generation",
                                  "deletionGracePeriodSeconds", "resourceVersion", "selfLink"}) {
    Keep(object, old, member);
  }
  if (auto assigned = AssignPorts(objects_, write); !assigned) return assigned;
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

std::string WritePreparer::Timestamp() const { return api::FormatTime(clock_.WallNow()); }

void WritePreparer::EnsureName(PendingWrite& write) {
  const ResourceType& type = *write.target.type;
  // At most 63 characters with the suffix, and up to 8 tries (KEP-4420).
  const std::string base =
      std::string(write.object.StringAt({"metadata", "generateName"})).substr(0, 58);
  if (api::Name(write.object).empty() && !base.empty()) {
    std::string name;
    for (int tries = 0; tries < 8; ++tries) {
      name = base + RandomSuffix();
      if (objects_.Find(type, KeyOf(write.target.ns, name)) == nullptr) break;
    }
    write.object.Make({"metadata", "name"}) = name;
  }
  write.target.name = api::Name(write.object);
}

std::string WritePreparer::RandomSuffix() {
  // No vowels, as in apimachinery v0.36.3, pkg/util/rand/rand.go, so that no words appear.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[random_() % kLetters.size()];
  return suffix;
}

std::string WritePreparer::NewUid() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uid = "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
  for (char& c : uid) {
    if (c == 'x') c = kDigits[random_() % 16];
    if (c == 'v') c = kDigits[8 + random_() % 4];
  }
  return uid;
}

}  // namespace sandbox
