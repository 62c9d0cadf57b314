#include "pkg/quota/object_counter.h"

namespace quota::core::replicationcontrollers {

Evaluator MakeEvaluator() {
  return CountObjects({.group = "", .resource = "replicationcontrollers"},
                      {"replicationcontrollers"});
}

}  // namespace quota::core::replicationcontrollers
