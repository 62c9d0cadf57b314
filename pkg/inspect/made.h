#pragma once

// What the controller of a stored workload has made of it so far: its pods as they are stored, and
// the ReplicaSets of a Deployment or the ControllerRevisions of a StatefulSet or DaemonSet, one for
// each template. The pods may differ from their template: defaults and overheads were others when
// they were created, or they were resized. Values; any thread.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"

namespace inspect {

struct Made {
  std::vector<json::Value> pods;  // that run or will run; with metadata, spec and status
  std::multimap<std::string, json::Value, std::less<>> claims;  // by the uid of their pod
  std::vector<json::Value> revisions;  // ReplicaSets or ControllerRevisions
};

// True if one of the owners of the object has this uid.
bool IsOwnedBy(const json::Value& object, std::string_view uid);

// True if pods of both templates are the same, whether the API's defaults are written or not.
bool SameTemplate(const json::Value& a, const json::Value& b);

// Returns the ReplicaSet or ControllerRevision of a template; nullptr if there is none. The
// controllers use it again (kubernetes v1.36.3, FindNewReplicaSet in
// pkg/controller/deployment/util/deployment_util.go, and FindEqualRevisions in
// pkg/controller/history/controller_history.go).
const json::Value* RevisionOf(const Made& made, const json::Value& pod_template);

// True if the pod was created from the template of this revision.
bool IsOfRevision(const json::Value& pod, const json::Value& revision);

// Returns the pod, and the claims that are deleted with it.
std::vector<json::Value> WithClaims(const json::Value& pod, const Made& made);

}  // namespace inspect
