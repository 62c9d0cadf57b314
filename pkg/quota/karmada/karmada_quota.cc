#include "pkg/quota/karmada/karmada_quota.h"

#include "pkg/quota/count_name.h"

namespace quota {

QuotaApi KarmadaQuotaApi() {
  const QuotaForm form{.reservations_in_status = true};
  return {
      .name = "karmada",
      .resource = {.group = "policy.karmada.io",
                   .version = "v1alpha1",
                   .resource = "karmadaquotas"},
      .kind = "KarmadaQuota",
      .evaluators = karmada::AllEvaluators(),
      // count/ names count propagated objects, that is bindings: no other objects are read.
      .object_counter = nullptr,
      .counted_resource = ParseCountName,
      .fields = QuotaFields(form),
      .form = form,
      // Karmada's scheduler recognizes a refusal by quota by this reason, and reports it in the
      // binding.
      .refusal_reason = "QuotaExceeded",
  };
}

}  // namespace quota
