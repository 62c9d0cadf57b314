#pragma once

// Classes of ironcore: cluster-scoped objects with a map of capabilities, which are what one object
// of the class uses. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/ironcore/amount.h"

namespace quota::ironcore {

struct Capability {
  std::string capability;  // "cpu"
  std::string name;        // under which objects of the class use it: "requests.cpu"
  Notation notation = {};
};

// `called` is what one class is called in a message: "machine class". A capability that is missing,
// or no amount, makes usage under its own name unknown and leaves the others alone.
ClassSource ClassesWith(api::GroupResource resource, std::string called,
                        std::vector<Capability> capabilities);

// The name of the class that the object refers to, "" if it refers to none.
std::string_view ClassNameOf(const json::Value& object, std::string_view reference);

}  // namespace quota::ironcore
