#pragma once

// The metadata of an API object that is held as a json::Value, whole or projected. Absent members,
// and those of a wrong type, read as empty. The views live as long as the object. Any thread.

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

// The object of labels; nullptr if there is none.
const json::Value* Labels(const json::Value& object);
const json::Value* Annotations(const json::Value& object);
// The text of one label; nullopt if the object does not have it.
std::optional<std::string_view> Label(const json::Value& object, std::string_view key);
bool HasFinalizer(const json::Value& object, std::string_view finalizer);

// nullopt if absent or no time.
std::optional<base::WallTime> CreationTimestamp(const json::Value& object);
std::optional<base::WallTime> DeletionTimestamp(const json::Value& object);
// Whether a deletion timestamp is set, readable or not.
bool IsBeingDeleted(const json::Value& object);

}  // namespace api
