#include "pkg/quota/object_counter.h"

namespace quota::core::configmaps {

Evaluator MakeEvaluator() {
  return CountObjects({.group = "", .resource = "configmaps"}, {"configmaps"});
}

}  // namespace quota::core::configmaps
