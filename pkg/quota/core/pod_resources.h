#pragma once

// A pod's requests and limits, summed over its containers (component-helpers v0.36.3 and v0.37.2,
// resource/helpers.go). Pure functions; any thread.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"
#include "pkg/quota/rules.h"
#include "pkg/quota/wanted_names.h"

namespace quota::core {

// True for the names that a pod may request as a whole, beside its containers (KEP-2837).
bool IsPodLevelResource(std::string_view name);
// True for hugepages-<size>.
bool IsHugePages(std::string_view name);

struct Amounts {
  ResourceList requests;
  ResourceList limits;
};

// What the node reports of a container, or of the pod as a whole; nullopt: nothing.
struct Reported {
  bool actual = false;  // the actual resources, which may be none
  std::optional<ResourceList> requests;
  std::optional<ResourceList> limits;
  std::optional<ResourceList> allocated;  // requests only
};

struct Container {
  Amounts spec;
  std::optional<Reported> reported;
  bool restartable = false;  // of an init container: it is a sidecar and keeps running
};

// Resources with an amount that cannot be read, in any container or for the whole pod.
struct UnreadAmounts {
  std::set<std::string> requests;
  std::set<std::string> limits;
  std::string why;  // the first one, with its field; "": none
};

struct PodResources {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::optional<Amounts> pod_level;
  std::optional<Reported> reported;  // of the pod as a whole; only beside pod_level
  ResourceList overhead;
  bool infeasible = false;  // the node has refused a resize for good: it will not give the spec
  Rules rules = {};
  UnreadAmounts unread = {};  // not in the lists above
  bool left_out = false;      // names that no quota limits are not in the lists above
};

// The fields that ParsePodResources reads, for a projection.
std::vector<std::string> PodResourceFields();

// Of a pod with very many names only the limited ones are read (WantedNames). Errors:
// kMalformed, naming the field, if something else than an amount cannot be read.
base::Result<PodResources> ParsePodResources(const json::Value& pod, const IsLimited& limited = {},
                                             Rules rules = {});

Amounts TotalOf(const PodResources& pod);

// True if the API server would compute the QoS class BestEffort: no positive amount of cpu or
// memory in any container, or, if the pod has pod-level resources, in those. An amount that cannot
// be read may be positive.
bool IsBestEffort(const PodResources& pod);

}  // namespace quota::core
