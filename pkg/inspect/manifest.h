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
  std::string where;        // file, and "document 2" or "item 3" if there are several
  std::size_t earlier = 0;  // manifests of the same object that this one takes the place of
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
  // The server cannot decode the value: "spec.replicas must be of type integer, not string",
  // "spec.overhead[cpu]: quantities must match …".
  std::vector<std::string> mistyped;
};

// Checks the fields of workloads, pods and volume claims that affect the count. Of other kinds only
// the types of texts are checked.
FieldFindings CheckFields(const json::Value& object);

// Returns what is no text where the API has texts: labels and annotations, and in common built-in
// kinds also selectors, environment variables, commands, data of ConfigMaps and Secrets.
std::vector<std::string> MistypedTexts(const json::Value& object);

}  // namespace inspect
