#pragma once

// The evaluator of a UsageDefinition. Pure functions; any thread.

#include <map>
#include <string>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// At most so many elements of lists are looked at in one object for one name. A name that needs
// more is unknown.
inline constexpr std::size_t kMostElements = 10'000;
// Facts are kept for each object, so they have bounds. An object that names more classes has an
// unknown amount; a longer value of a scope is cut, so it is no value that a quota has.
inline constexpr std::size_t kMostClasses = 128;
inline constexpr std::size_t kMostScopeValue = 1024;
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

// For people: what the facts of an object leave unsaid.
struct Explanation {
  std::map<std::string, std::string, std::less<>> unknown;  // why, by each name of Facts::unread
  // The state in which it uses nothing by countsWhile: "status.phase is Released"; "" if it counts.
  std::string idle;
};
Explanation Explain(const UsageDefinition& definition, const json::Value& object);

}  // namespace quota::usage
