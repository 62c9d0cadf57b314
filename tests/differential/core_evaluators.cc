#include "tests/differential/core_evaluators.h"

#include <map>
#include <stdexcept>
#include <string>

#include "pkg/quota/core/core_quota.h"

namespace differential {

const quota::Evaluator& EvaluatorOf(const api::GroupResource& resource) {
  static const quota::QuotaApi core = quota::CoreQuotaApi();
  if (const auto found = core.evaluators.Find(resource)) return *found;
  throw std::runtime_error("no evaluator for " + resource.ToString());
}

quota::ClassTable DeviceClasses(const quota::Evaluator& evaluator) {
  quota::ClassTable table;
  if (!evaluator.classes) return table;
  const std::map<std::string, std::string> resources = {
      {"gold", "example.com/gpu"}, {"gpu", "vendor.io/fpga"}, {"a.b", ""}};
  for (const auto& [name, resource] : resources) {
    json::Object spec;
    if (!resource.empty()) spec.Set("extendedResourceName", resource);
    table.Set(name, evaluator.classes->usage_of(json::Object{{"spec", std::move(spec)}}));
  }
  return table;
}

}  // namespace differential
