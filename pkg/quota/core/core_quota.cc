#include "pkg/quota/core/core_quota.h"

#include "pkg/quota/object_counter.h"

namespace quota {

QuotaApi CoreQuotaApi() {
  return {
      .name = "core",
      .resource = {.group = "", .version = "v1", .resource = "resourcequotas"},
      .kind = "ResourceQuota",
      .evaluators = core::AllEvaluators(),
      .object_counter = CountAnyKind,
      .counted_resource = AnyCountedKind,
      .fields = QuotaFields(),
  };
}

std::shared_ptr<const Evaluator> BuiltInEvaluator(const api::GroupResource& resource) {
  static const Evaluators all = core::AllEvaluators();
  return all.Find(resource);
}

}  // namespace quota
