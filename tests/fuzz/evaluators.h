#pragma once

// The evaluators of all quota APIs, found by the kind of an object: for the targets that count
// objects.

#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace fuzz {

const std::vector<quota::QuotaApi>& QuotaApis();

// The quota API that a quota object is of, by its apiVersion and kind; core for any other.
const quota::QuotaApi& ApiOf(const json::Value& quota);

// By kind, "Pod" for pods; of an unknown kind one that counts objects.
const quota::Evaluator& EvaluatorOf(const json::Value& object);

// By the kind of the class, "MachineClass" for machineclasses; nullptr if there is none.
const quota::ClassSource* ClassSourceOf(const json::Value& object);

// `fields`, and what is always decoded beside them.
std::vector<std::string> WithIdentity(std::vector<std::string> fields);

// No text or number in it begins with a minus sign.
bool HasNoMinus(const json::Value& value);

}  // namespace fuzz
