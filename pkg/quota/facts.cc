#include "pkg/quota/facts.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "pkg/quota/hash.h"

namespace quota {

namespace {

// Equal facts must have equal hashes, so a quantity's format, which equality ignores, is left out.
std::uint64_t HashPart(const ResourceList& usage, const std::vector<Attribute>& attributes,
                       std::uint64_t hash) {
  hash = Combine(hash, usage.size());
  for (const auto& [name, quantity] : usage) {
    hash = HashText(name, hash);
    const quantity::Int128 nanos = quantity.nanos();
    hash = Combine(hash, static_cast<std::uint64_t>(nanos));
    hash = Combine(hash, static_cast<std::uint64_t>(nanos >> 64));
  }
  for (const auto& [scope, value] : attributes) {
    hash = HashText(scope, hash);
    hash = HashText(value, hash);
  }
  return hash;
}

std::uint64_t RandomSeed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::size_t Facts::Hash() const {
  static const std::uint64_t seed = RandomSeed();
  std::uint64_t hash = HashPart(usage, attributes, seed);
  for (const Part& part : parts) hash = HashPart(part.usage, part.attributes, hash);
  for (const std::string& name : unread) hash = HashText(name, hash);
  for (const ClassUnits& units : classes) {
    hash = HashText(units.name, hash);
    hash = Combine(hash, static_cast<std::uint64_t>(units.units));
    hash = Combine(hash, static_cast<std::uint64_t>(units.units >> 64));
  }
  return static_cast<std::size_t>(hash);
}

void Facts::ShrinkToFit() {
  usage.ShrinkToFit();
  attributes.shrink_to_fit();
  classes.shrink_to_fit();
  unread.shrink_to_fit();
  parts.shrink_to_fit();
  for (Part& part : parts) {
    part.usage.ShrinkToFit();
    part.attributes.shrink_to_fit();
  }
}

std::vector<std::string> FlawedNames(const ObjectFacts& facts) {
  std::vector<std::string> names;
  std::ranges::set_union(facts.now.unread, facts.ignored, std::back_inserter(names));
  return names;
}

// The texts of flaws that have names tell only the first one, and where it is.
bool IsNoWorse(const ObjectFacts& stored, const ObjectFacts& requested) {
  const std::vector<std::string> names = FlawedNames(requested);
  if (names.empty()) return stored.flaw == requested.flaw;
  return std::ranges::includes(FlawedNames(stored), names);
}

}  // namespace quota
