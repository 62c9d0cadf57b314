#pragma once

// Mistyped fields of a UsageDefinition in a file ("defualt"). An API server drops them, or refuses
// the object, so the daemon never sees them: it ignores what it does not know, because a later
// version of the CRD may have more fields. For a file nobody else tells. Pure; any thread.

#include <string>

#include "pkg/json/value.h"

namespace quota::usage {

// Returns the first field of the object that a UsageDefinition does not have, and those that it has
// there: "spec.usage[0].defualt: is no field; there are class, default, …". "" if all are known.
// What is not of the expected type is left to ParseUsageDefinition(); metadata and status are not
// looked at.
std::string UnknownMember(const json::Value& object);

}  // namespace quota::usage
