#pragma once

// Patches, as functions of values: JSON patch (RFC 6902, without move and copy), JSON merge patch
// (RFC 7386), the strategic merge that kubectl sends for built-in kinds, and server-side apply. No
// I/O; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "pkg/json/value.h"

namespace sandbox {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

struct PatchRequest {
  PatchType type = PatchType::kMerge;
  json::Value body;  // parsed; the caller converts the YAML of an apply patch
};

// "application/merge-patch+json" and so on; nullopt for anything else.
std::optional<PatchType> PatchTypeOf(std::string_view media_type);

// Errors: 422 if a `test` fails or a path is absent, 400 if the patch is no valid patch.
Outcome<json::Value> ApplyJsonPatch(const json::Value& target, const json::Value& patch);

// null removes a member, objects merge, all else replaces.
json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch);

// Lists with a known merge key merge by it (containers by name, ports by containerPort or port,
// conditions by type …), others are replaced. The directive $patch is obeyed (replace, delete,
// merge); $setElementOrder/x and $retainKeys are ignored. Errors: 400 for any other directive.
Outcome<json::Value> ApplyStrategicMergePatch(const json::Value& target, const json::Value& patch);

// Merges the applied configuration into the object, by a strategic merge for built-in kinds. Fields
// have no owners: there are no conflicts, and a field that a manager omits stays. Errors: 400 if it
// has a directive.
Outcome<json::Value> ApplyServerSide(const json::Value& target, const json::Value& applied,
                                     bool custom);

}  // namespace sandbox
