#pragma once

// Rules of kinds: defaults, the strategy of create and update, validation of custom resources. No
// I/O; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"

namespace sandbox {

// On decoding: defaults of pods, services, claims, namespaces, …; the quantities that quotas count
// are rounded up to milli and made canonical. What cannot be decoded is 400.
Outcome<void> ApplyDefaults(const ResourceType& type, json::Value& object);

// The strategy: which part of a body is used. A create resets the status. An update of the main
// resource keeps the stored status; an update of /status changes nothing else.
void PrepareForCreate(const ResourceType& type, json::Value& object);
void PrepareForUpdate(const ResourceType& type, json::Value& object, const json::Value& old,
                      std::string_view subresource);

// Returns the errors of a custom resource by the schema of its kind, and of a definition. Built-in
// kinds have no rules of their own here.
FieldErrors ValidateObject(const ResourceType& type, const json::Value& object);

// True if `generation` must increase: a member other than metadata and status differs.
bool SpecChanged(const ResourceType& type, const json::Value& object, const json::Value& old);
// True if objects of this type have metadata.generation.
bool HasGeneration(const ResourceType& type);

}  // namespace sandbox
