#pragma once

// The evaluators under comparison, with the same device classes as upstream's program has.

#include "pkg/api/resource.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/evaluator.h"

namespace differential {

// Throws std::runtime_error if there is none.
const quota::Evaluator& EvaluatorOf(const api::GroupResource& resource);

// The same classes as in upstream/main.go; "fpga", which claims also name, does not exist. Empty
// for a kind without classes.
quota::ClassTable DeviceClasses(const quota::Evaluator& evaluator);

}  // namespace differential
