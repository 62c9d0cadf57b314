#pragma once

// Definitions of kinds that the program counts already: pods, claims, services and so on. Pure
// functions; any thread.

#include <memory>
#include <string>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// Returns the evaluator of the same kind that also has the names, fields and scopes of `defined`,
// which is the evaluator of a definition. The scopes apply to all names of the kind. An object that
// has ended (Evaluator::until_ended) uses nothing under the names of the definition.
//
// REQUIRES: WhyNotExtended() is "".
Evaluator Extended(std::shared_ptr<const Evaluator> built_in, Evaluator defined);

// Returns why the definition cannot be added to this evaluator; "": it can.
std::string WhyNotExtended(const Evaluator& built_in, const UsageDefinition& definition);

}  // namespace quota::usage
