#pragma once

// Patches, as functions of values. JSON patch (RFC 6902), JSON merge patch (RFC 7386), the
// strategic merge that kubectl sends for built-in kinds, and a server-side apply that creates or
// merges. No I/O; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "pkg/json/value.h"

namespace sandbox {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

struct PatchRequest {
  PatchType type = PatchType::kMerge;
  json::Value body;    // parsed; the caller converts the YAML of an apply patch
  bool force = false;  // of an apply
};

// "application/merge-patch+json" and so on, parameters cut off; nullopt for anything else.
std::optional<PatchType> PatchTypeOf(std::string_view media_type);

// Errors: 422 if a `test` fails or a path is absent, 400 if the patch is no valid patch.
Outcome<json::Value> ApplyJsonPatch(const json::Value& target, const json::Value& patch);

// null removes a member, objects merge, all else replaces.
json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch);

// Lists with a known merge key merge by it (containers by name, ports by containerPort or port,
// conditions by type …), finalizers as a set, others are replaced. Directives: $patch
// (replace, delete, merge), $deleteFromPrimitiveList/x, $setElementOrder/x, $retainKeys.
// `kind` tells lists of the same name apart. Errors: 400 for a malformed directive.
Outcome<json::Value> ApplyStrategicMergePatch(const json::Value& target, const json::Value& patch,
                                              std::string_view kind);

// Merges the applied configuration into the object (a strategic merge for built-in kinds), and
// removes fields that this manager applied before and omits now. Ownership is kept in
// metadata.managedFields with one entry for each manager; conflicts between managers are not
// detected.
Outcome<json::Value> ApplyServerSide(const json::Value& target, const json::Value& applied,
                                     std::string_view field_manager, std::string_view kind,
                                     bool custom, std::string_view timestamp);

}  // namespace sandbox
