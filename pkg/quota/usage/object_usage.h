#pragma once

// What one object uses by a definition. Pure functions; any thread.

#include <cstddef>
#include <map>
#include <string>

#include "pkg/json/value.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// Facts are kept for each object, so they have bounds. An object that names more classes has an
// unknown amount; a longer value of a scope is cut, so it is no value that a quota has.
inline constexpr std::size_t kMostClasses = 128;
inline constexpr std::size_t kMostScopeValue = 1024;

// The most elements of lists that are looked at in one object for one name of the definition.
std::size_t MostElements(const UsageDefinition& definition);

// For people: what the facts of an object leave unsaid.
struct Explanation {
  using Reasons = std::map<std::string, std::string, std::less<>>;
  Reasons unknown;  // why, by each name of Facts::unread
  Reasons ignored;  // why nothing counts, by name
  // The state in which it uses nothing by countsWhile: "status.phase is Released"; "" if it counts.
  std::string idle;
};

class ObjectUsage {
 public:
  explicit ObjectUsage(UsageDefinition definition);

  [[nodiscard]] const UsageDefinition& definition() const { return definition_; }
  // The name of the number of objects: "count/buckets.storage.example.com".
  [[nodiscard]] const std::string& count_name() const { return count_name_; }

  // The facts of a stored object.
  [[nodiscard]] ObjectFacts FactsOf(const json::Value& object) const;
  // The facts of an object in a request. Its status is that of the stored object (null: none),
  // because a client could write any with the object. What CountsWhile forbids it to write is the
  // flaw.
  [[nodiscard]] ObjectFacts FactsToAdmit(const json::Value& object,
                                         const json::Value* stored) const;
  // What one unit of a class uses.
  [[nodiscard]] ClassUsage UsageOfClass(const json::Value& object) const;
  [[nodiscard]] Explanation Explain(const json::Value& object) const;

 private:
  UsageDefinition definition_;
  std::string count_name_;
};

}  // namespace quota::usage
