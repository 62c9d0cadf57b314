#include "pkg/quota/scope.h"

#include <algorithm>

namespace quota {
namespace {

bool Holds(const ScopeRequirement& requirement, const std::vector<Attribute>& attributes) {
  const auto in_scope = [&](const Attribute& attribute) {
    return attribute.first == requirement.scope;
  };
  const auto listed = [&](const Attribute& attribute) {
    return std::ranges::find(requirement.values, attribute.second) != requirement.values.end();
  };
  switch (requirement.op) {
    case ScopeOperator::kExists:
      return std::ranges::any_of(attributes, in_scope);
    case ScopeOperator::kDoesNotExist:
      return std::ranges::none_of(attributes, in_scope);
    case ScopeOperator::kIn:
      return std::ranges::any_of(
          attributes, [&](const Attribute& one) { return in_scope(one) && listed(one); });
    case ScopeOperator::kNotIn:
      // An object without a class is in none of them. If it has several, like a claim that changes
      // its volume attributes class, one outside of the list is enough.
      return std::ranges::none_of(attributes, in_scope) ||
             std::ranges::any_of(
                 attributes, [&](const Attribute& one) { return in_scope(one) && !listed(one); });
  }
  return false;
}

}  // namespace

// Values are compared as they are. Upstream turns them into label selectors, where a class name
// that is not a valid label value (longer than 63 characters) fails every comparison and leaves
// used at 0. Here such a class is counted like any other.
bool Matches(const ScopeSelector& selector, const std::vector<Attribute>& attributes,
             const std::vector<std::string>& known) {
  return std::ranges::all_of(selector, [&](const ScopeRequirement& requirement) {
    return std::ranges::find(known, requirement.scope) != known.end() &&
           Holds(requirement, attributes);
  });
}

bool MatchesObject(const ScopeSelector& selector, const Facts& facts,
                   const std::vector<std::string>& known) {
  if (!CountsParts(selector, facts)) return Matches(selector, facts.attributes, known);
  return std::ranges::any_of(
      facts.parts, [&](const Part& part) { return Matches(selector, part.attributes, known); });
}

ResourceList UsageOfParts(const ScopeSelector& selector, const Facts& facts,
                          const std::vector<std::string>& known) {
  ResourceList usage;
  for (const Part& part : facts.parts) {
    if (!Matches(selector, part.attributes, known)) continue;
    usage.Add(part.usage);
  }
  return usage;
}

}  // namespace quota
