#pragma once

// Facts: the little of an object that quota needs. Equal objects share one interned Facts, so a
// namespace with 50 000 replicas of ten workloads has about ten. Values; any thread.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// What a scope looks at: the scope's name, and for scopes over classes the class ("PriorityClass",
// "high"). A predicate scope that holds stands there with an empty value ("BestEffort", ""), one
// that does not hold is absent; its negation ("NotBestEffort") is an attribute of its own.
using Attribute = std::pair<std::string, std::string>;

struct Facts {
  ResourceList usage;                 // what is absent is not used; a zero says the same
  std::vector<Attribute> attributes;  // sorted
  bool operator==(const Facts& other) const = default;
  [[nodiscard]] std::size_t Hash() const;
};

// Facts that change with time alone, as those of a pod past twice its grace: from `at` on the
// object has `facts`. No event announces it.
struct LaterFacts {
  base::WallTime at;
  Facts facts;
};

struct ObjectFacts {
  Facts now;
  std::optional<LaterFacts> later;
};

}  // namespace quota
