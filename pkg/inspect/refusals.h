#pragma once

// What the API server refuses before it asks quotas: resources of a pod that contradict each other,
// and what is beyond the bounds of a LimitRange (kubernetes v1.36.3,
// pkg/apis/core/validation/validation.go and plugin/pkg/admission/limitranger). Pure; any thread.

#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace inspect {

// The bounds of one item of a LimitRange.
struct Bounds {
  std::string type;  // "Container", "Pod", "PersistentVolumeClaim"
  quota::ResourceList min;
  quota::ResourceList max;
  quota::ResourceList ratio;  // of limits to requests, at most
};

// Errors: kMalformed, naming the field.
base::Result<Bounds> ParseBounds(const json::Value& item);

// Why the server would refuse the object whatever quotas have free, in its words; empty if it would
// not. The object is as the mutating plugins leave it. Only pods and PersistentVolumeClaims are
// looked at; amounts that cannot be read are left to those who count them.
std::vector<std::string> RefusalsOf(const json::Value& object, const std::vector<Bounds>& bounds);

}  // namespace inspect
