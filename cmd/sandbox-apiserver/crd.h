#pragma once

// CustomResourceDefinitions: the resources that a definition adds, and the effect of its structural
// schema on objects. No I/O; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"

namespace sandbox {

// Returns the errors of what is needed to serve the definition: its name, kind and storage version.
FieldErrors ValidateCrd(const json::Value& crd);
// Fills spec.names.singular and listKind, spec.conversion.
void DefaultCrd(json::Value& crd);
// Sets the conditions NamesAccepted and Established, acceptedNames and storedVersions.
void SetEstablished(json::Value& crd, std::string_view timestamp);
// One type for each served version.
std::vector<ResourceType> TypesOfCrd(const json::Value& crd);

// Removes members that the schema does not define; returns their paths ("spec.x"). apiVersion, kind
// and metadata stay.
std::vector<std::string> Prune(const json::Value& schema, json::Value& object);
// Adds the schema's defaults for absent members.
void ApplySchemaDefaults(const json::Value& schema, json::Value& object);
// Validates type, required, enum, minimum, maximum, lengths, counts, pattern, items, properties,
// additionalProperties, int-or-string and nullable.
FieldErrors ValidateBySchema(const json::Value& schema, const json::Value& object);

}  // namespace sandbox
