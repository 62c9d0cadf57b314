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
#include "pkg/quota/uid.h"

namespace quota {

// What a scope looks at: the scope's name, and for scopes over classes the class ("PriorityClass",
// "high"). A predicate scope that holds stands there with an empty value ("BestEffort", ""), one
// that does not hold is absent; its negation ("NotBestEffort") is an attribute of its own.
using Attribute = std::pair<std::string, std::string>;

// So many units of a class. What one of them uses is said by the class object, not by this one, and
// is looked up when usage is summed (pkg/quota/class_table.h).
struct ClassUnits {
  std::string name;
  std::int64_t units = 0;
  bool operator==(const ClassUnits& other) const = default;
};

// A part of an object, of which there may be several that scopes see differently.
struct Part {
  ResourceList usage;
  std::vector<Attribute> attributes;  // sorted
  bool operator==(const Part& other) const = default;
};

struct Facts {
  ResourceList usage;                    // what is absent is not used; a zero says the same
  std::vector<Attribute> attributes;     // sorted
  std::vector<ClassUnits> classes = {};  // sorted by name, each name once
  // Where the parts of the object have attributes of their own: what a quota with scopes counts is
  // those that match, and one without is `usage`, all of it. Empty: it is seen as a whole.
  std::vector<Part> parts = {};
  bool operator==(const Facts& other) const = default;
  [[nodiscard]] std::size_t Hash() const;
};

// Facts that change with time alone, as those of a pod past twice its grace: from `at` on the
// object has `facts`. No event announces it.
struct LaterFacts {
  base::WallTime at;
  Facts facts;
};

// Ties an object to the one that it was made for, as a claim to its pod: what the owner uses under
// a name, the owned object does not use again. Both say it: the owned one whose it is, the owner
// which object it means, once it knows. Seldom, and different for each object, so it stands beside
// the facts and keeps them shared.
struct Tie {
  std::optional<Uid> owner;  // of the owned object; nullopt: this is an owner
  std::string name;          // the owned object's, on both sides
  std::string created;       // the owned object's creationTimestamp, which sorts as text
  bool operator==(const Tie& other) const = default;
};

struct ObjectFacts {
  Facts now;
  std::optional<LaterFacts> later;
  std::optional<Tie> tie = {};
  // What in the object counts as nothing because it is no amount ("spec.x[cpu]: must not be
  // negative"); "" if all counts as it stands. Admission refuses what would bring it about.
  std::string flaw = {};
};

}  // namespace quota
