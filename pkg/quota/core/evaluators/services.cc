#include "pkg/quota/core/object_counter.h"

namespace quota::core::services {

Evaluator MakeEvaluator() {
  return CountObjects({.group = "", .resource = "services"}, {"services"});
}

}  // namespace quota::core::services
