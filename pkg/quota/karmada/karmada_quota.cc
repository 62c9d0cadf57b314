#include "pkg/quota/karmada/karmada_quota.h"

#include "pkg/quota/count_name.h"

namespace quota {

QuotaApi KarmadaQuotaApi() {
  return {
      .name = "karmada",
      .resource = {.group = "policy.karmada.io",
                   .version = "v1alpha1",
                   .resource = "karmadaquotas"},
      .kind = "KarmadaQuota",
      .evaluators = karmada::AllEvaluators(),
      // What is counted by kind is what is propagated, so bindings: no other object is read.
      .object_counter = nullptr,
      .counted_resource = ParseCountName,
      .fields = QuotaFields(),
      // By this reason Karmada's scheduler knows a refusal by quota, and says so in the binding.
      .refusal_reason = "QuotaExceeded",
  };
}

}  // namespace quota
