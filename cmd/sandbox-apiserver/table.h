#pragma once

// The forms that `kubectl get` requests: a Table of printed cells, and objects reduced to their
// metadata. No I/O; any thread.

#include <string>
#include <vector>

#include "cmd/sandbox-apiserver/query.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace sandbox {

// `metadata` is the metadata of the list, or {"resourceVersion": …} of a single object. The first
// event of a watch has `columns`, the others do not.
json::Value MakeTable(const ResourceType& type, const std::vector<ObjectPtr>& objects,
                      json::Value metadata, base::WallTime now, bool columns = true);

// {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}.
json::Value PartialMetadata(const json::Value& object);

// The age as kubectl prints it: "5m12s", "3d4h", "2y10d".
std::string HumanDuration(std::chrono::seconds duration);

}  // namespace sandbox
