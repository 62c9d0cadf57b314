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

bool HasSelector(const Value& service) {
  const Value* selector = service.At({"spec", "selector"});
  return selector != nullptr && selector->IsObject() && !selector->AsObject()->empty();
}

bool HasEndpoints(const Value& service) {
  return Is(service, kService) && service.StringAt({"spec", "type"}) != "ExternalName" &&
         HasSelector(service);
}

Value MadeBy(const Value& maker, std::string_view api_version, std::string_view kind,
             const std::string& name) {
  Value made = Object{{"apiVersion", api_version}, {"kind", kind}};
  made.Make({"metadata", "namespace"}) = api::Namespace(maker);
  made.Make({"metadata", "name"}) = name;
  return made;
}

std::vector<Value> MachineParts(const Value& machine) {
  struct Part {
    std::string_view list;
    std::string_view from;
    std::string_view api_version;
    std::string_view kind;
  };
  constexpr Part kParts[] = {
      {"volumes", "volumeTemplate", "storage.ironcore.dev/v1alpha1", "Volume"},
      {"networkInterfaces", "networkInterfaceTemplate", "networking.ironcore.dev/v1alpha1",
       "NetworkInterface"}};
  std::vector<Value> made;
  for (const Part& part : kParts) {
    for (const Value& one : machine.ArrayAt({"spec", part.list})) {
      const Value* spec = one.At({"ephemeral", part.from, "spec"});
      if (spec == nullptr) continue;
      const std::string name = std::string(api::Name(machine)) + "-";
      made.push_back(
          MadeBy(machine, part.api_version, part.kind, name + std::string(one.StringAt({"name"}))));
      made.back().Make({"spec"}) = *spec;
    }
  }
  return made;
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
