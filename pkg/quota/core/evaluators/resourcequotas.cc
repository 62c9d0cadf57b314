#include "pkg/quota/object_counter.h"

namespace quota::core::resourcequotas {

Evaluator MakeEvaluator() {
  return CountObjects({.group = "", .resource = "resourcequotas"}, {"resourcequotas"});
}

}  // namespace quota::core::resourcequotas
