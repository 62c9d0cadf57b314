#include "pkg/quota/object_counter.h"

namespace quota::core::secrets {

Evaluator MakeEvaluator() {
  return CountObjects({.group = "", .resource = "secrets"}, {"secrets"});
}

}  // namespace quota::core::secrets
