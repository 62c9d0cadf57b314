#pragma once

// ironcore's classes: cluster-scoped objects with a map of capabilities, which is the usage of one
// object of the class. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/ironcore/amount.h"

namespace quota::ironcore {

struct Capability {
  std::string capability;  // "cpu"
  std::string name;        // the quota name for objects of the class: "requests.cpu"
  Notation notation = {};
};

// `called` names a class in messages: "machine class". A capability that is missing or invalid
// makes only the usage under its own name unknown.
ClassSource ClassesWith(api::GroupResource resource, std::string called,
                        std::vector<Capability> capabilities);

// Returns the name of the class that the object refers to, "" if it refers to none.
std::string_view ClassNameOf(const json::Value& object, std::string_view reference);

}  // namespace quota::ironcore
