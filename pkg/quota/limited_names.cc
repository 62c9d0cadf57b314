#include "pkg/quota/limited_names.h"

#include <algorithm>
#include <optional>

#include "pkg/quota/scope.h"

namespace quota {
namespace {

// A character that no name has, so that a cut name is not another object's.
constexpr std::string_view kCut = "…";

std::size_t HeapBytes(const std::string& text) {
  constexpr std::size_t kInPlace = 15;
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}

std::size_t HeapBytes(const ResourceList& list) {
  std::size_t bytes = list.items().capacity() * sizeof(ResourceList::Item);
  for (const auto& [name, amount] : list) bytes += HeapBytes(name);
  return bytes;
}

std::size_t HeapBytes(const std::vector<Attribute>& attributes) {
  std::size_t bytes = attributes.capacity() * sizeof(Attribute);
  for (const auto& [scope, value] : attributes) bytes += HeapBytes(scope) + HeapBytes(value);
  return bytes;
}

std::size_t HeapBytes(const std::vector<ClassUnits>& classes) {
  std::size_t bytes = classes.capacity() * sizeof(ClassUnits);
  for (const ClassUnits& units : classes) bytes += HeapBytes(units.name);
  return bytes;
}

void Cut(std::string& name) {
  if (name.size() <= kLongestName) return;
  name.resize(kLongestName);
  name.append(kCut);
  name.shrink_to_fit();
}

void KeepValues(std::vector<Attribute>& attributes) {
  for (auto& [scope, value] : attributes) KeepScopeValue(value);
  std::ranges::sort(attributes);
}

// What is left of LimitedNames::kSpareBytes.
class Spare {
 public:
  bool Take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::size_t left_ = LimitedNames::kSpareBytes;
};

}  // namespace

bool LimitedNames::Add(std::string_view name) {
  const auto at = names_.try_emplace(std::string(name)).first;
  return ++at->second == 1;
}

bool LimitedNames::Remove(std::string_view name) {
  const auto at = names_.find(name);
  if (at == names_.end() || --at->second > 0) return false;
  names_.erase(at);
  return true;
}

bool LimitedNames::MayUse(const ClassTable& classes, std::string_view name) const {
  const bool uses = std::ranges::any_of(*classes.AmountsOf(name),
                                        [this](const auto& item) { return Has(item.first); });
  if (uses) return true;
  const std::optional<UnknownUsage> unknown = classes.UnknownOf(name);
  return unknown && (unknown->names.empty() ||
                     std::ranges::any_of(unknown->names,
                                         [this](const auto& lacking) { return Has(lacking); }));
}

void LimitedNames::BoundClasses(Facts& facts, const ClassTable* classes, LeftOut& left_out) const {
  Spare spare;
  bool unknown = false;  // by a missing class that is left out
  const std::size_t erased = std::erase_if(facts.classes, [&](const ClassUnits& units) {
    const bool exists = classes != nullptr && classes->Has(units.name);
    if (exists && MayUse(*classes, units.name)) return false;
    if (spare.Take(sizeof(units) + HeapBytes(units.name))) return false;
    unknown = unknown || (classes != nullptr && !exists && classes->UnknownOf(units.name));
    return true;
  });
  left_out.classes = left_out.classes || erased > 0;
  if (!unknown) return;
  facts.classes.push_back({std::string(kCut), 1});
  std::ranges::sort(facts.classes, {}, &ClassUnits::name);
}

LimitedNames::LeftOut LimitedNames::Bound(ObjectFacts& facts, const ClassTable* classes) const {
  LeftOut left_out{.names = facts.left_out};
  BoundOne(facts.now, classes, left_out);
  if (facts.later) BoundOne(facts.later->facts, classes, left_out);
  if (facts.tie) {
    Cut(facts.tie->name);
    Cut(facts.tie->created);
  }
  return left_out;
}

void LimitedNames::BoundOne(Facts& facts, const ClassTable* classes, LeftOut& left_out) const {
  KeepValues(facts.attributes);
  for (Part& part : facts.parts) KeepValues(part.attributes);
  for (ClassUnits& units : facts.classes) Cut(units.name);
  Spare spare;
  const auto bound = [&](ResourceList& usage) {
    const std::size_t erased = usage.EraseIf([&](const ResourceList::Item& item) {
      return !Has(item.first) && !spare.Take(sizeof(item) + HeapBytes(item.first));
    });
    left_out.names = left_out.names || erased > 0;
  };
  bound(facts.usage);
  for (Part& part : facts.parts) bound(part.usage);
  const std::size_t unread = std::erase_if(facts.unread, [&](const std::string& name) {
    return !Has(name) && !spare.Take(sizeof(std::string) + HeapBytes(name));
  });
  left_out.names = left_out.names || unread > 0;
  BoundClasses(facts, classes, left_out);
}

std::size_t HeapBytes(const Facts& facts) {
  std::size_t bytes = HeapBytes(facts.usage) + HeapBytes(facts.attributes) +
                      HeapBytes(facts.classes) + facts.parts.capacity() * sizeof(Part);
  for (const Part& part : facts.parts) bytes += HeapBytes(part.usage) + HeapBytes(part.attributes);
  bytes += facts.unread.capacity() * sizeof(std::string);
  for (const std::string& name : facts.unread) bytes += HeapBytes(name);
  return bytes;
}

}  // namespace quota
