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

// What is wrong with the fields of an object.
struct FieldFindings {
  // "spec.template.spec.containers[0].resource". A misspelt or misplaced field would be left out of
  // the count.
  std::vector<std::string> unknown;
  // The type is one that the server does not accept there: "spec.replicas must be of type integer,
  // not string".
  std::vector<std::string> mistyped;
};

// Checks the fields of workloads, pods and volume claims that affect the count. Other kinds are not
// checked.
FieldFindings CheckFields(const json::Value& object);

}  // namespace inspect
