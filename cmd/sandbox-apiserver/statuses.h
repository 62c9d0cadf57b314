#pragma once

// Statuses of the sandbox's core that pkg/api does not have. Any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"

namespace sandbox {

// The error for a create in a namespace that is being deleted.
api::Status NamespaceTerminating(const ResourceType& type, std::string_view name,
                                 std::string_view ns);
// The error for a create whose name belongs to an object that is being deleted.
api::Status AlreadyExistsBeingDeleted(const ResourceType& type, std::string_view name);
// 422 without a kind: a patch that does not apply.
api::Status Unprocessable();
// 413.
api::Status TooManyPatchOperations(std::size_t operations, std::size_t limit);
// 410 "too old resource version: <wanted> (<oldest>)".
api::Status TooOldVersion(std::uint64_t wanted, std::uint64_t oldest);
// 504 with the cause ResourceVersionTooLarge.
api::Status TooLargeVersion(std::uint64_t wanted, std::uint64_t current);
// 422 about a parameter of a list: `message` begins with "Forbidden: " or "Invalid value: ".
api::Status InvalidListOptions(std::string_view field, std::string_view message);

}  // namespace sandbox
