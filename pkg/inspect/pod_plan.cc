#include "pkg/inspect/pod_plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

Value TemplateOf(const Value& object) {
  const Value* found = object.At({"spec", "template"});
  return found == nullptr ? Value(Object()) : *found;
}

// True if the Job controller creates no more pods, because the Job succeeded or failed.
bool IsFinished(const Value& job) {
  return std::ranges::any_of(job.ArrayAt({"status", "conditions"}), [](const Value& condition) {
    const std::string_view type = condition.StringAt({"type"});
    return (type == "Complete" || type == "Failed") && condition.StringAt({"status"}) == "True";
  });
}

// True if another controller than that of Jobs creates the pods.
bool IsManagedByOther(const Value& job) {
  const std::string_view manager = job.StringAt({"spec", "managedBy"});
  return !manager.empty() && manager != "kubernetes.io/job-controller";
}

// Sets the numbers of pods. Those that succeeded already are not created again.
void PlanJob(const Value& job, PodPlan& plan) {
  if (FlagAt(job, {"spec", "suspend"}) || IsFinished(job)) return;
  plan.count = std::max<std::int64_t>(0, NumberAt(job, {"spec", "parallelism"}, 1));
  const Value* completions = job.At({"spec", "completions"});
  if (completions == nullptr || !completions->AsInt64()) return;
  const std::int64_t left = std::max<std::int64_t>(
      0, *completions->AsInt64() - NumberAt(job, {"status", "succeeded"}, 0));
  plan.count = std::min(plan.count, left);
  // With a parallelism of 0 nothing is created.
  if (plan.count > 0) plan.ended = left - plan.count;
}

// Reads an amount or a share of the replicas, such as maxSurge.
std::int64_t AmountOrShare(const Value* given, std::int64_t of, const char* fallback) {
  const std::string text = given == nullptr || given->IsNull() ? fallback
                           : given->AsString() != nullptr
                               ? *given->AsString()
                               : std::to_string(given->AsInt64().value_or(0));
  const double number = std::atof(text.c_str());
  if (!text.ends_with('%')) return static_cast<std::int64_t>(number);
  // A share is rounded up. The small number removes the rounding error of the double.
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(of) * number / 100 - 1e-9));
}

}  // namespace

std::optional<PodPlan> PodsOf(const Value& object, const NodeCounter& nodes_for) {
  PodPlan plan{.pod_template = TemplateOf(object), .count = 0};
  const std::int64_t replicas =
      std::max<std::int64_t>(0, NumberAt(object, {"spec", "replicas"}, 1));
  if (Is(object, kDeployment) || Is(object, kReplicaSet) || Is(object, kStatefulSet) ||
      Is(object, kReplicationController)) {
    plan.count = replicas;
  } else if (Is(object, kJob)) {
    if (IsManagedByOther(object)) return std::nullopt;
    PlanJob(object, plan);
  } else if (Is(object, kDaemonSet) && nodes_for) {
    const Value* spec = plan.pod_template.At({"spec"});
    plan.count = nodes_for(spec == nullptr ? Value(Object()) : *spec);
  } else if (!Is(object, kDaemonSet)) {
    return std::nullopt;
  }
  return plan;
}

std::optional<PodPlan> PodsOfAny(const Value& object, const NodeCounter& nodes_for) {
  if (Is(object, kCronJob)) return PodsOf(JobOf(object), nodes_for);
  auto plan = PodsOf(object, nodes_for);
  if (plan || object.At({"spec", "template", "spec", "containers"}) == nullptr) return plan;
  return PodPlan{.pod_template = TemplateOf(object),
                 .count = std::max<std::int64_t>(0, NumberAt(object, {"spec", "replicas"}, 1))};
}

std::optional<std::int64_t> PresentPods(const Value& stored) {
  const char* field = Is(stored, kDaemonSet) ? "currentNumberScheduled"
                      : Is(stored, kJob)     ? "active"
                                             : "replicas";
  const Value* status = stored.At({"status"});
  if (status == nullptr || !status->IsObject()) return std::nullopt;
  return NumberAt(*status, {field}, 0);
}

bool Recreates(const Value& object) {
  return Is(object, kDeployment) && object.StringAt({"spec", "strategy", "type"}) == "Recreate";
}

std::int64_t SurgeOf(const Value& object, std::int64_t replicas) {
  if (Is(object, kDeployment)) {
    if (Recreates(object)) return 0;
    return AmountOrShare(object.At({"spec", "strategy", "rollingUpdate", "maxSurge"}), replicas,
                         "25%");
  }
  if (Is(object, kDaemonSet)) {
    return AmountOrShare(object.At({"spec", "updateStrategy", "rollingUpdate", "maxSurge"}),
                         replicas, "0");
  }
  return 0;
}

std::int64_t NewestPods(const Value& stored, std::int64_t present) {
  const std::int64_t replicas = NumberAt(stored, {"spec", "replicas"}, 1);
  // Without a surge an old pod makes room for each new one, so all that exist are wanted.
  const bool surges = Is(stored, kDeployment) && SurgeOf(stored, replicas) > 0;
  if (!surges || FlagAt(stored, {"spec", "paused"})) return present;
  const std::int64_t observed = NumberAt(stored, {"status", "observedGeneration"}, 0);
  const bool current = observed > 0 && observed >= NumberAt(stored, {"metadata", "generation"}, 0);
  // The API omits a number that is 0.
  if (!current && stored.At({"status", "updatedReplicas"}) == nullptr) return present;
  return std::min(present, NumberAt(stored, {"status", "updatedReplicas"}, 0));
}

std::int64_t PartitionOf(const Value& object) {
  if (!Is(object, kStatefulSet)) return 0;
  return std::max<std::int64_t>(
      0, NumberAt(object, {"spec", "updateStrategy", "rollingUpdate", "partition"}, 0));
}

std::optional<std::int64_t> ReplicaOf(const Value& stateful_set, std::string_view pod_name) {
  const std::size_t dash = pod_name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = pod_name.substr(dash + 1);
  std::int64_t ordinal = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return ordinal - NumberAt(stateful_set, {"spec", "ordinals", "start"}, 0);
}

bool ReplacesPods(const Value& object) {
  if (Is(object, kDeployment)) return !FlagAt(object, {"spec", "paused"});
  if (Is(object, kStatefulSet) || Is(object, kDaemonSet)) {
    return object.StringAt({"spec", "updateStrategy", "type"}) != "OnDelete";
  }
  return false;
}

}  // namespace inspect
