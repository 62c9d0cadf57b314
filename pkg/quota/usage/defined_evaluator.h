#pragma once

// The evaluator of a UsageDefinition. Pure functions; any thread.

#include "pkg/quota/evaluator.h"
#include "pkg/quota/usage/object_usage.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// A longer condition is left out: an API server refuses it, or the object that holds many.
inline constexpr std::size_t kMostCondition = 16'384;

// Returns an evaluator that also counts the objects, under count/<resource>.<group>: it takes the
// place of the counter of their kind. It keeps a copy of the definition.
//
// An amount that cannot be read, or that is missing and has no default, makes its own name unknown
// (Facts::unread). Two paths that begin alike lead through the same elements of a list: with path
// .spec.pools[*].size and times .spec.pools[*].replicas each pool has its own number. An absent
// list is an empty one, as Kubernetes stores lists.
//
// At admission the status is that of the stored object: a client could write any with the object.
// An amount in the status is not asked about there.
Evaluator EvaluatorOf(const UsageDefinition& definition);

Explanation Explain(const UsageDefinition& definition, const json::Value& object);

}  // namespace quota::usage
