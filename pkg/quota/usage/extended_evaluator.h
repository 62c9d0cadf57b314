#pragma once

// Definitions of kinds that the program counts already: pods, claims, services and so on. Pure
// functions; any thread.

#include <memory>
#include <string>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// Returns false for Secrets: whoever may create a definition would make the daemon read what they
// contain.
bool CanBeDefined(const api::GroupResource& resource);

// Returns why the definition cannot be added to this evaluator; "": it can.
std::string WhyNotExtended(const Evaluator& built_in, const UsageDefinition& definition);

// Returns the evaluator of the same kind that also has the names, fields and scopes of `defined`,
// which is the evaluator of a definition. The scopes apply to all names of the kind. An object that
// has ended uses nothing under the names of the definition.
//
// REQUIRES: WhyNotExtended() is "".
Evaluator Extended(std::shared_ptr<const Evaluator> built_in, Evaluator defined);

// The same for a definition whose kind may have no such evaluator (null). It reads this version of
// the kind; "": any.
Evaluator EvaluatorOf(const UsageDefinition& definition, std::shared_ptr<const Evaluator> built_in,
                      std::string version = "");

// True for the facts of an object that has ended (Evaluator::until_ended).
bool HasEnded(const Evaluator& evaluator, const Facts& facts);

}  // namespace quota::usage
