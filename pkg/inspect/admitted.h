#pragma once

// Computes an object after the API server's defaults and mutating admission plugins, as far as
// quota depends on them: limits as default requests, LimitRange, RuntimeClass, Priority and
// DefaultStorageClass (kubernetes v1.36.3, pkg/apis/core/v1/defaults.go and plugin/pkg/admission).
// Pure functions over values; any thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/inspect/refusals.h"
#include "pkg/json/value.h"

namespace inspect {

// Defaults and bounds of a namespace and its cluster.
struct Defaults {
  json::Object container_requests;  // of LimitRanges
  json::Object container_limits;
  // RuntimeClass → overhead.podFixed, null if it has none.
  std::map<std::string, json::Value, std::less<>> overheads;
  std::string priority_class;  // "" if none is the default
  std::string storage_class;
  std::vector<Bounds> bounds;  // of LimitRanges
  // The names of all classes that there are; nullopt: it is not known whether others exist.
  std::optional<std::set<std::string, std::less<>>> runtime_classes;
  std::optional<std::set<std::string, std::less<>>> priority_classes;
};

// Adds the defaults and bounds of a stored LimitRange to earlier ones. Errors: kMalformed.
base::Result<void> AddLimitRange(const json::Value& limit_range, Defaults& defaults);
void AddRuntimeClass(const json::Value& runtime_class, Defaults& defaults);
// Returns the default class: the lowest of several default PriorityClasses, the newest of several
// default StorageClasses.
std::string DefaultPriorityClass(const std::vector<json::Value>& classes);
std::string DefaultStorageClass(const std::vector<json::Value>& classes);

// Returns the pod as it would be stored. Errors: kMalformed, naming the field.
base::Result<json::Value> AdmittedPod(json::Value pod, const Defaults& defaults);
// Returns such a pod with the limits that it lacks, as low as the server allows: a container's
// request of CPU or memory is its limit.
json::Value WithLeastLimits(json::Value pod);
json::Value AdmittedClaim(json::Value claim, const Defaults& defaults);

// Returns the reasons, in the server's words, to refuse such an object before quotas are checked:
// those of a pod's classes, or else those of RefusalsOf().
std::vector<std::string> RefusalsAtAdmission(const json::Value& object, const Defaults& defaults);

// Returns the pod that a controller creates from a template, before admission.
json::Value PodFromTemplate(const json::Value& pod_template, std::string_view ns,
                            std::string_view name);

}  // namespace inspect
