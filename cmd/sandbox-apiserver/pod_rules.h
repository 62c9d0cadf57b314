#pragma once

// Pods and pod templates: defaults, validation, quality of service. Any thread.

#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"

namespace sandbox {

// Defaults of a pod spec (of a pod or a template), its quantities normalised. A request that is not
// set gets the value of the limit.
Outcome<void> DefaultPodSpec(const ResourceType& type, json::Value& spec);

// All errors of the pod spec at `path`.
void ValidatePodSpec(const json::Value& spec, const std::string& path, FieldErrors& errors);
// Errors of an update: fields that must not change in a stored pod.
void ValidatePodUpdate(const json::Value& pod, const json::Value& old, FieldErrors& errors);

// Takes the resources of the pod and of its containers from `pod`, as /resize does. Everything else
// comes from `old`.
void KeepOnlyResize(json::Value& pod, const json::Value& old);

}  // namespace sandbox
