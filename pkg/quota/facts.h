#pragma once

// Facts: the small part of an object that quotas need. Equal objects share one interned Facts, so a
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

// What a scope matches: the scope's name and, for scopes over classes, the class ("PriorityClass",
// "high"). A predicate scope that is true has an empty value ("BestEffort", ""), and one that is
// false is absent. Its negation ("NotBestEffort") is an attribute of its own.
using Attribute = std::pair<std::string, std::string>;

// A number of units of a class. The usage of one unit is in the class object, not in this one, and
// is looked up when usage is summed (pkg/quota/class_table.h).
struct ClassUnits {
  std::string name;
  quantity::Int128 units = 0;
  bool operator==(const ClassUnits& other) const = default;
};

// A part of an object, if scopes match parts of it differently.
struct Part {
  ResourceList usage;
  std::vector<Attribute> attributes;  // sorted
  bool operator==(const Part& other) const = default;
};

struct Facts {
  ResourceList usage;                    // absent means not used, like a zero
  std::vector<Attribute> attributes;     // sorted
  std::vector<ClassUnits> classes = {};  // sorted by name, each name once
  // The parts, if they have attributes of their own. A quota with scopes counts the matching parts;
  // one without counts all of `usage`. Empty: the object is matched as a whole.
  std::vector<Part> parts = {};
  // Names under which the object uses an unknown amount more, because a text in it is no amount.
  // Sorted, each name once.
  std::vector<std::string> unread = {};
  bool operator==(const Facts& other) const = default;
  // Differs between processes: strangers, who choose the names, cannot choose colliding ones.
  [[nodiscard]] std::size_t Hash() const;
  // Frees memory that was reserved while the facts were made.
  void ShrinkToFit();
};

// Facts that change only with time, such as those of a pod after twice its grace period. From `at`
// on the object has `facts`, without unread names. No event announces it.
struct LaterFacts {
  base::WallTime at;
  Facts facts;
};

// Ties an object to the one that it was created for, such as a claim to its pod: usage of the owner
// under a name is not counted again for the owned object. Both sides confirm it: the owned object
// names its owner, and the owner names the object, once it knows. Ties are rare and differ for each
// object, so they are kept outside of the facts, which stay shared.
struct Tie {
  std::optional<Uid> owner;  // for the owned object; nullopt: this is an owner
  std::string name;          // of the owned object, on both sides
  std::string created;       // the owned object's creationTimestamp, which sorts as text
  bool operator==(const Tie& other) const = default;
};

struct ObjectFacts {
  Facts now;
  std::optional<LaterFacts> later;
  std::optional<Tie> tie = {};
  // The first invalid amount in the object ("spec.x[cpu]: must not be negative"). It counts as
  // nothing, or is unknown under the names in Facts::unread. "" if everything counts. Admission
  // refuses requests that would create one.
  std::string flaw = {};
  // Names under which invalid amounts count as nothing, for admission: a request is refused for it
  // only if a quota limits one. Sorted, each name once. A flaw without names, here or in
  // Facts::unread, is refused whatever is limited.
  std::vector<std::string> ignored = {};
  // Some names that no quota limits were not read (ReadOptions::limited).
  bool left_out = false;
};

// The names that the flaw of an object concerns, sorted. Empty: it has none, or it concerns all.
std::vector<std::string> FlawedNames(const ObjectFacts& facts);

// True if what cannot be counted of the requested object cannot be counted of the stored one
// either.
bool IsNoWorse(const ObjectFacts& stored, const ObjectFacts& requested);

}  // namespace quota
