#pragma once

// The metadata of an API object, which is a whole or projected json::Value. Absent members and
// members of a wrong type read as empty. The views live as long as the object. Any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/api/resource.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace api {

std::string_view Name(const json::Value& object);
std::string_view Namespace(const json::Value& object);
std::string_view Uid(const json::Value& object);
std::string_view ResourceVersion(const json::Value& object);
std::string_view Kind(const json::Value& object);
std::string_view ApiVersion(const json::Value& object);
ObjectKey KeyOf(const json::Value& object);

// metadata.labels; nullptr if absent.
const json::Value* Labels(const json::Value& object);
const json::Value* Annotations(const json::Value& object);
// The value of one label; nullopt if the object does not have it.
std::optional<std::string_view> Label(const json::Value& object, std::string_view key);
// True if an entry of metadata.ownerReferences says that this owner is the controller.
bool IsController(const json::Value& owner_reference);
// Returns the owner reference of the controller, else the first owner reference; nullptr if there
// is none.
const json::Value* OwnerReference(const json::Value& object);
bool HasFinalizer(const json::Value& object, std::string_view finalizer);

// nullopt if absent or not a time.
std::optional<base::WallTime> CreationTimestamp(const json::Value& object);
std::optional<base::WallTime> DeletionTimestamp(const json::Value& object);
// True if a deletion timestamp is set, even an unreadable one.
bool IsBeingDeleted(const json::Value& object);

}  // namespace api
