#include "pkg/inspect/workload_kinds.h"

#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"

namespace inspect {

using json::Object;
using json::Value;

bool Is(const Value& object, const WorkloadKind& kind) {
  return api::Kind(object) == kind.kind && GroupOf(api::ApiVersion(object)) == kind.group;
}

std::int64_t NumberAt(const Value& object, std::initializer_list<std::string_view> path,
                      std::int64_t fallback) {
  const Value* value = object.At(path);
  return value == nullptr ? fallback : value->AsInt64().value_or(fallback);
}

bool FlagAt(const Value& object, std::initializer_list<std::string_view> path) {
  const Value* value = object.At(path);
  return value != nullptr && value->AsBool().value_or(false);
}

const Value* PodSpecOf(const Value& object) {
  if (Is(object, kPod)) return object.At({"spec"});
  if (Is(object, kCronJob)) return object.At({"spec", "jobTemplate", "spec", "template", "spec"});
  return object.At({"spec", "template", "spec"});
}

Value JobOf(const Value& cron_job) {
  Value job = Object{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  job.Make({"metadata", "namespace"}) = api::Namespace(cron_job);
  job.Make({"metadata", "name"}) = std::string(api::Name(cron_job)) + "-run";
  const Value* spec = cron_job.At({"spec", "jobTemplate", "spec"});
  job.Make({"spec"}) = spec == nullptr ? Value(Object()) : *spec;
  return job;
}

}  // namespace inspect
