#pragma once

// The evaluators of all quota APIs by the kind of an object, for targets that count objects.

#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace fuzz {

const std::vector<quota::QuotaApi>& QuotaApis();

// The quota API of a quota object, by its apiVersion and kind; core for any other.
const quota::QuotaApi& ApiOf(const json::Value& quota);

// By kind, "Pod" for pods; for an unknown kind an evaluator that counts objects.
const quota::Evaluator& EvaluatorOf(const json::Value& object);

// By the kind of the class, "MachineClass" for machineclasses; nullptr if there is none.
const quota::ClassSource* ClassSourceOf(const json::Value& object);

// `fields`, and the fields that are always decoded.
std::vector<std::string> WithIdentity(std::vector<std::string> fields);

// True if no text or number in it begins with a minus sign.
bool HasNoMinus(const json::Value& value);

}  // namespace fuzz
