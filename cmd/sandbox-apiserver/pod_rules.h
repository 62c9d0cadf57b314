#pragma once

// Pods and pod templates: defaults, resizing, quality of service. Any thread.

#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

// Defaults of a pod spec (of a pod or a template), its quantities normalised. A request that is not
// set gets the value of the limit.
Outcome<void> DefaultPodSpec(const ResourceType& type, json::Value& spec);

// Takes the resources of the pod and of its containers from `pod`, as /resize does. Everything else
// comes from `old`.
void KeepOnlyResize(json::Value& pod, const json::Value& old);

// "Guaranteed", "Burstable" or "BestEffort".
std::string QosClass(const json::Value& pod);

}  // namespace sandbox
