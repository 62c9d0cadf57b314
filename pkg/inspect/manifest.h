#pragma once

// Reads manifests as `kubectl create -f` does: YAML or JSON, several documents, lists. Pure; any
// thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/inspect/owners.h"
#include "pkg/json/value.h"

namespace inspect {

struct Manifest {
  json::Value object;
  std::string where;  // file, and "document 2" or "item 3" if there are several
};

// Returns the objects in `text`, with lists split into items. Errors: kInvalidArgument, naming the
// file and the line, or the document and what it lacks.
base::Result<std::vector<Manifest>> ReadManifests(std::string_view text, const std::string& file);

// "deployment.apps/web".
ObjectName NameOf(const json::Value& object);

// Returns unknown fields of workloads, pods and volume claims, as far as they affect the count
// ("spec.template.spec.containers[0].resource"). A misspelt or misplaced field would be left out of
// the count. Other kinds are not checked.
std::vector<std::string> UnknownFields(const json::Value& object);
// Returns what has a type that the server does not accept there: "spec.replicas must be of type
// integer, not string".
std::vector<std::string> MistypedFields(const json::Value& object);

}  // namespace inspect
