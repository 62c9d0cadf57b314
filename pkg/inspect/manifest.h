#pragma once

// Manifests as `kubectl create -f` reads them: YAML or JSON, several documents, lists. Pure; any
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
  std::string where;  // file and "document 2", "item 3" where there are several
};

// The objects in `text`; lists are taken apart. Errors: kInvalidArgument, naming the file and the
// line, or the document and what it lacks.
base::Result<std::vector<Manifest>> ReadManifests(std::string_view text, const std::string& file);

// "deployment.apps/web".
ObjectName NameOf(const json::Value& object);

// Fields of workloads and pods that there are not, as "spec.template.spec.containers[0].resource":
// misspelt, they would be left out of what is counted. Other kinds are not looked at.
std::vector<std::string> UnknownFields(const json::Value& object);

}  // namespace inspect
