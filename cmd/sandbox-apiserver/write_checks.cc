#include "cmd/sandbox-apiserver/write_checks.h"

#include <algorithm>
#include <span>

#include "cmd/sandbox-apiserver/validation.h"

namespace sandbox {
namespace {

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

// The precondition of a deletion is not met.
api::Status FailedPrecondition(const Target& target, std::string_view what,
                               const std::string& wanted, const std::string& stored) {
  return api::Conflict({target.type->group, target.type->kind}, target.name,
                       "the " + std::string(what) + " in the precondition (" + wanted +
                           ") does not match the " + std::string(what) + " in record (" + stored +
                           ")");
}

struct Member {
  std::string_view name;
  std::string_view type;  // of Go
};
// ObjectMeta and OwnerReference of apimachinery v0.36.3, pkg/apis/meta/v1/types.go.
constexpr Member kMetadata[] = {{"name", "string"},
                                {"generateName", "string"},
                                {"namespace", "string"},
                                {"selfLink", "string"},
                                {"uid", "string"},
                                {"resourceVersion", "string"},
                                {"generation", "int64"},
                                {"creationTimestamp", "string"},
                                {"deletionTimestamp", "string"},
                                {"deletionGracePeriodSeconds", "int64"},
                                {"labels", "map[string]string"},
                                {"annotations", "map[string]string"},
                                {"ownerReferences", "[]v1.OwnerReference"},
                                {"finalizers", "[]string"},
                                {"managedFields", "[]v1.ManagedFieldsEntry"}};
constexpr Member kOwner[] = {{"apiVersion", "string"}, {"kind", "string"},
                             {"name", "string"},       {"uid", "string"},
                             {"controller", "bool"},   {"blockOwnerDeletion", "bool"}};

std::string MismatchOf(const Value& object, std::span<const Member> members,
                       const std::string& path);

// Returns why Go does not decode the value into this type, or "". Null decodes into every type.
std::string Mismatch(const Value& value, std::string_view type, const std::string& path) {
  constexpr std::string_view kList = "[]";
  constexpr std::string_view kMap = "map[string]";
  bool fits = value.IsString();
  if (type == "int64") fits = value.AsInt64().has_value();
  if (type == "bool") fits = value.AsBool().has_value();
  if (type.starts_with(kList)) fits = value.IsArray();
  if (type.starts_with(kMap) || type.starts_with("v1.")) fits = value.IsObject();
  if (value.IsNull()) return "";
  if (!fits) {
    const std::string_view name = value.TypeName() == "boolean" ? "bool" : value.TypeName();
    return "json: cannot unmarshal " + std::string(name) + " into Go struct field " + path +
           " of type " + std::string(type);
  }
  std::string why;
  if (type.starts_with(kList)) {
    for (const Value& item : *value.AsArray()) {
      if (why.empty()) why = Mismatch(item, type.substr(kList.size()), path);
    }
  } else if (type.starts_with(kMap)) {
    for (const auto& [key, item] : *value.AsObject()) {
      if (why.empty()) why = Mismatch(item, type.substr(kMap.size()), path);
    }
  } else if (type == "v1.OwnerReference") {
    why = MismatchOf(value, kOwner, path);
  }
  return why;
}

std::string MismatchOf(const Value& object, std::span<const Member> members,
                       const std::string& path) {
  for (const Member& member : members) {
    const Value* const value = object.At({member.name});
    if (value == nullptr) continue;
    std::string why = Mismatch(*value, member.type, path + "." + std::string(member.name));
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string MetadataMismatch(const Value& object) {
  return MismatchOf(*object.At({"metadata"}), kMetadata, "ObjectMeta.metadata");
}

Outcome<void> CheckMetadata(const ResourceType& type, const Value& object) {
  const std::string why = MetadataMismatch(object);
  if (why.empty()) return {};
  return api::BadRequest(type.kind + " in version \"" + type.version +
                         "\" cannot be handled as a " + type.kind + ": " + why);
}

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
  if (meta.IsNull()) meta = json::Object();
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

Outcome<void> CheckNamespaceForCreate(const Objects& objects, const Target& target) {
  if (!target.type->namespaced) return {};
  const TypePtr namespaces = objects.registry().Find("", "v1", "namespaces");
  const ObjectPtr ns = objects.Find(*namespaces, target.ns);
  if (ns == nullptr) return api::NotFound(namespaces->group_resource(), target.ns);
  if (api::IsBeingDeleted(*ns)) return NamespaceTerminating(target);
  return {};
}

Outcome<void> CheckDeletion(const Target& target, const Value& object,
                            const DeleteOptions& options) {
  const std::string uid(api::Uid(object));
  if (!options.uid.empty() && options.uid != uid) {
    return FailedPrecondition(target, "UID", options.uid, uid);
  }
  const std::string version(api::ResourceVersion(object));
  if (!options.resource_version.empty() && options.resource_version != version) {
    return FailedPrecondition(target, "ResourceVersion", options.resource_version, version);
  }
  // As the plugin NamespaceLifecycle of apiserver v0.36.3.
  const bool eternal =
      target.name == "default" || target.name == "kube-system" || target.name == "kube-public";
  if (target.type->IsCore("namespaces") && eternal) {
    return api::Forbidden(target.type->group_resource(), target.name,
                          "this namespace may not be deleted");
  }
  return {};
}

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
  const Value* const dry_run = body.At({"dryRun"});
  if (dry_run == nullptr) return options;
  const std::string why = Mismatch(*dry_run, "[]string", "DeleteOptions.dryRun");
  if (!why.empty()) return api::BadRequest(why);
  FieldErrors errors;
  for (const Value& value : body.ArrayAt({"dryRun"})) {
    if (value != "All") errors.NotSupported("dryRun", *dry_run, {"All"});
    options.dry_run = true;
  }
  if (const auto checked = errors.OfOptions("DeleteOptions"); !checked) return checked.error();
  return options;
}

}  // namespace sandbox
