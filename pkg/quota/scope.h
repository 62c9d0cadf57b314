#pragma once

// A quota's scopes: predicates over an object's attributes (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go). Values; any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/quota/facts.h"

namespace quota {

enum class ScopeOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

// A value that is kept of an object has at most so many bytes. In place of a longer one its digest
// is kept: who creates an object chooses the value, and it is only compared.
inline constexpr std::size_t kLongestScopeValue = 63;
// Makes the value one that is kept. The digest has 15 bytes, the first of which is in no text. It
// differs between processes.
void KeepScopeValue(std::string& value);

// One expression. An entry of spec.scopes is one with kExists.
struct ScopeRequirement {
  std::string scope;
  ScopeOperator op = ScopeOperator::kExists;
  std::vector<std::string> values;
  bool operator==(const ScopeRequirement& other) const = default;
};

// All must hold. Empty: every object matches.
using ScopeSelector = std::vector<ScopeRequirement>;

// `known` are the scopes that the evaluator supports; a requirement on any other never matches.
bool Matches(const ScopeSelector& selector, const std::vector<Attribute>& attributes,
             const std::vector<std::string>& known);

// The same for an object: as a whole, or if it has parts, any of them.
bool MatchesObject(const ScopeSelector& selector, const Facts& facts,
                   const std::vector<std::string>& known);

// True if a quota with this selector counts parts of the object instead of the whole.
inline bool CountsParts(const ScopeSelector& selector, const Facts& facts) {
  return !selector.empty() && !facts.parts.empty();
}

// The usage of the matching parts.
ResourceList UsageOfParts(const ScopeSelector& selector, const Facts& facts,
                          const std::vector<std::string>& known);

}  // namespace quota
