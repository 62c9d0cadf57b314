#pragma once

// HorizontalPodAutoscalers: how many pods they give a workload at least. kubernetes v1.36.3,
// pkg/controller/podautoscaler/horizontal.go: one with fewer pods than the minimum gets the
// minimum, whatever the metrics say, but one with 0 replicas is left alone. Values; any thread.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pkg/inspect/owners.h"
#include "pkg/inspect/workload_kinds.h"
#include "pkg/json/value.h"

namespace inspect {

inline constexpr WorkloadKind kAutoscaler{"HorizontalPodAutoscaler", "autoscaling"};

struct Scaling {
  ObjectName by;
  std::int64_t least = 1;
  std::int64_t most = 1;
};

// The autoscalers of one namespace.
class Autoscalers {
 public:
  // Adds a HorizontalPodAutoscaler of any version.
  void Add(const json::Value& autoscaler);

  // Returns the one that scales the object; nullptr if there is none, or if it does nothing. Of
  // several the one with the largest minimum.
  [[nodiscard]] const Scaling* Of(const json::Value& object) const;

 private:
  std::map<ObjectName, Scaling> by_target_;
};

// True for the built-in kinds that an autoscaler can scale.
bool IsScalable(const json::Value& object);
// Returns the name of what it scales.
ObjectName TargetOf(const json::Value& autoscaler);

}  // namespace inspect
