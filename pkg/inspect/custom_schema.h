#pragma once

// The schema of a kind by its CustomResourceDefinition in a file: what an API server would serve of
// it, so that the paths of a UsageDefinition are compared as a daemon compares them. Pure; any
// thread.

#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/usage/schema_check.h"

namespace inspect {

// Returns the first of the paths that the kind cannot have, in the version that a daemon reads, as
// SchemaDocument::WhyNot() tells it. "": it can have all of them, or that is not known, because the
// definition has no schema or lets any member pass.
std::string WhyNotInSchema(const json::Value& custom_kind,
                           const std::vector<quota::usage::NamedPath>& paths);

}  // namespace inspect
