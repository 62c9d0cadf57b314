#pragma once

// An object as it is after the API server's defaults and its mutating admission plugins, as far as
// quota depends on them: limits that stand for requests, LimitRange, RuntimeClass, Priority and
// DefaultStorageClass (kubernetes v1.36.3, pkg/apis/core/v1/defaults.go and plugin/pkg/admission).
// Pure functions over values; any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/inspect/refusals.h"
#include "pkg/json/value.h"

namespace inspect {

// What a namespace and its cluster fill in, and what they bound.
struct Defaults {
  json::Object container_requests;  // of LimitRanges
  json::Object container_limits;
  std::map<std::string, json::Value, std::less<>> overheads;  // RuntimeClass → overhead.podFixed
  std::string priority_class;                                 // "" if none is the default
  std::string storage_class;
  std::vector<Bounds> bounds;  // of LimitRanges
};

// What a LimitRange fills into containers, as it is stored, and what it bounds. Others may have
// been added before.
// Errors: kMalformed.
base::Result<void> AddLimitRange(const json::Value& limit_range, Defaults& defaults);
void AddRuntimeClass(const json::Value& runtime_class, Defaults& defaults);
// The classes of these that are the default: of several PriorityClasses the lowest, of
// StorageClasses the newest.
std::string DefaultPriorityClass(const std::vector<json::Value>& classes);
std::string DefaultStorageClass(const std::vector<json::Value>& classes);

// A pod, as it is stored. Errors: kMalformed, naming the field.
base::Result<json::Value> AdmittedPod(json::Value pod, const Defaults& defaults);
json::Value AdmittedClaim(json::Value claim, const Defaults& defaults);

// The pod that a template makes, before admission.
json::Value PodFromTemplate(const json::Value& pod_template, std::string_view ns,
                            std::string_view name);

}  // namespace inspect
