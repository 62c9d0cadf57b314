#pragma once

// What must hold before a write: the body agrees with the path, and the preconditions agree with
// what is stored. Pure; any thread.

#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/write.h"
#include "pkg/json/value.h"

namespace sandbox {

// apiVersion, kind and namespace are those of the path, or absent; then they are added. 400.
Outcome<void> CheckKind(const ResourceType& type, json::Value& object);
Outcome<void> CheckNamespaceOfBody(const Target& target, json::Value& object);
// The members of metadata, which must be an object, have their types. 400.
Outcome<void> CheckMetadata(const ResourceType& type, const json::Value& object);
// Why one has another type, in the words of Go's decoder; "" if none has.
std::string MetadataMismatch(const json::Value& object);
// 400.
Outcome<void> CheckNameOfBody(const Target& target, const json::Value& object);

// True if a patch says for which version of the object it is.
bool NamesVersion(const json::Value& patch);
// The uid and the version of the body, if given, are the stored ones. 409.
Outcome<void> CheckUid(const PendingWrite& write);
Outcome<void> CheckVersion(const PendingWrite& write);

// The namespace exists, and is not being deleted. 404, 403.
Outcome<void> CheckNamespaceForCreate(const Objects& objects, const Target& target);
// The preconditions hold, and the object may be deleted at all. 409, 403.
Outcome<void> CheckDeletion(const Target& target, const json::Value& object,
                            const DeleteOptions& options);

}  // namespace sandbox
