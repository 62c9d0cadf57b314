#include "pkg/quota/ironcore/ironcore_quota.h"

#include "pkg/quota/object_counter.h"

namespace quota {

QuotaApi IroncoreQuotaApi() {
  return {
      .name = "ironcore",
      .resource = {.group = "core.ironcore.dev",
                   .version = "v1alpha1",
                   .resource = "resourcequotas"},
      .kind = "ResourceQuota",
      .evaluators = ironcore::AllEvaluators(),
      .object_counter = CountAnyKind,
      .counted_resource = AnyCountedKind,
      .fields = QuotaFields(),
      // Nobody validates selectors when they are written, and a scope only means objects with a
      // class.
      .form = {.tolerant = true, .not_in_without_class = false},
  };
}

}  // namespace quota
