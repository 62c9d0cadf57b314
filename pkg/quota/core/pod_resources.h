#pragma once

// What a pod asks for and may use, added up over its containers (component-helpers v0.36.3,
// resource/helpers.go). Pure functions; any thread.

#include <optional>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace quota::core {

struct Amounts {
  ResourceList requests;
  ResourceList limits;
};

struct Container {
  Amounts spec;
  // What counts: while a container is resized in place, its old and new amounts together.
  Amounts effective;
  bool restartable = false;  // of an init container: a sidecar, which runs on
};

struct PodResources {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::optional<Amounts> pod_level;
  ResourceList overhead;
};

// The fields that ParsePodResources reads, for a projection.
std::vector<std::string> PodResourceFields();

// Errors: kMalformed, naming the field.
base::Result<PodResources> ParsePodResources(const json::Value& pod);

// Errors: kInvalidArgument when a sum does not fit, naming the resource.
base::Result<Amounts> TotalOf(const PodResources& pod);

// The quality of service class that the API server would compute is BestEffort: no positive amount
// of cpu or memory anywhere, or, if the pod has resources of its own, there.
bool IsBestEffort(const PodResources& pod);

}  // namespace quota::core
