#pragma once

// Refusals of the API server that come before quotas: resources of a pod or of a pod template that
// contradict each other or that there cannot be, and violated bounds of a LimitRange (kubernetes
// v1.36.3, pkg/apis/core/validation/validation.go and plugin/pkg/admission/limitranger). Pure; any
// thread.

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

// Returns the reasons, in the server's words, to refuse the object before quotas are checked. Empty
// if there is none. The object must be as after the mutating plugins. Only pods,
// PersistentVolumeClaims and the names in ResourceQuotas are checked. Unreadable amounts are
// ignored here: counting reports them.
std::vector<std::string> RefusalsOf(const json::Value& object, const std::vector<Bounds>& bounds);

// Returns the reasons to refuse an object because of its pod template. `pod` is a pod as the
// template describes it, before admission, and `spec` the path of its spec in the object.
std::vector<std::string> RefusalsOfTemplate(const json::Value& pod, const std::string& spec);

}  // namespace inspect
