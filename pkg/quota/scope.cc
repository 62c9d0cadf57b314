#include "pkg/quota/scope.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "pkg/quota/hash.h"

namespace quota {
namespace {

constexpr char kNoText = '\xff';          // in no UTF-8
constexpr std::size_t kDigestBytes = 15;  // a std::string has them in place

std::uint64_t DigestSeed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// The seeds are random, so strangers cannot choose values with the same digest.
std::string DigestOf(std::string_view value) {
  static const std::array<std::uint64_t, 2> seeds = {DigestSeed(), DigestSeed()};
  std::array<std::uint64_t, 2> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = HashText(value, seeds[i]);
  std::string digest(kDigestBytes, kNoText);
  std::memcpy(digest.data() + 1, words.data(), kDigestBytes - 1);
  return digest;
}

bool Holds(const ScopeRequirement& requirement, const std::vector<Attribute>& attributes) {
  const auto in_scope = [&](const Attribute& attribute) {
    return attribute.first == requirement.scope;
  };
  const auto listed = [&](const Attribute& attribute) {
    return requirement.values.Contains(attribute.second);
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

void KeepScopeValue(std::string& value) {
  if (value.size() > kLongestScopeValue) DigestOf(value).swap(value);  // frees the memory
}

ScopeValues::ScopeValues(std::vector<std::string> listed)
    : listed_(std::move(listed)), kept_(listed_) {
  for (std::string& value : kept_) KeepScopeValue(value);
  std::ranges::sort(kept_);
}

bool ScopeValues::Contains(const std::string& held) const {
  if (held.size() <= kLongestScopeValue) return std::ranges::binary_search(kept_, held);
  return std::ranges::binary_search(kept_, DigestOf(held));
}

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
