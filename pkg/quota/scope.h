#pragma once

// A quota's scopes: predicates over an object's attributes (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go). Values; any thread.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

// The values that a selector lists. There may be tens of thousands, and each object is compared
// with them, so that takes a binary search.
class ScopeValues {
 public:
  ScopeValues() = default;
  ScopeValues(std::initializer_list<std::string> listed)
      : ScopeValues(std::vector<std::string>(listed)) {}
  explicit ScopeValues(std::vector<std::string> listed);

  // `held` is of an object, whole or as it is kept.
  [[nodiscard]] bool Contains(const std::string& held) const;
  [[nodiscard]] bool empty() const { return listed_.empty(); }
  // As they are listed.
  [[nodiscard]] auto begin() const { return listed_.begin(); }
  [[nodiscard]] auto end() const { return listed_.end(); }
  bool operator==(const ScopeValues& other) const { return listed_ == other.listed_; }

 private:
  std::vector<std::string> listed_;
  std::vector<std::string> kept_;  // sorted, as KeepScopeValue() makes them
};

// One expression. An entry of spec.scopes is one with kExists.
struct ScopeRequirement {
  std::string scope;
  ScopeOperator op = ScopeOperator::kExists;
  ScopeValues values;
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
