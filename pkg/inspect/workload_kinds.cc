#include "pkg/inspect/workload_kinds.h"

#include <algorithm>

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

bool HasEndpoints(const Value& service) {
  const Value* selector = service.At({"spec", "selector"});
  return Is(service, kService) && service.StringAt({"spec", "type"}) != "ExternalName" &&
         selector != nullptr && selector->IsObject() && !selector->AsObject()->empty();
}

std::int64_t HistoryOf(const Value& cron_job) {
  // The API's defaults.
  const auto kept = [&](const char* limit, std::int64_t fallback) {
    return std::max<std::int64_t>(0, NumberAt(cron_job, {"spec", limit}, fallback));
  };
  return kept("successfulJobsHistoryLimit", 3) + kept("failedJobsHistoryLimit", 1);
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
