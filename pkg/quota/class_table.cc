#include "pkg/quota/class_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace quota {
namespace {

// Adds what is unknown by one more class of an object. A class that is missing is the reason that
// is told, because it may be read.
void AddTo(std::optional<UnknownUsage>& unknown, UnknownUsage one) {
  if (!unknown) {
    unknown = std::move(one);
    return;
  }
  const bool all = unknown->names.empty() || one.names.empty();
  std::vector<std::string> names;
  if (!all) std::ranges::set_union(unknown->names, one.names, std::back_inserter(names));
  const bool missing = one.why.Is(base::ErrorCode::kNotFound);
  if (missing && !unknown->why.Is(base::ErrorCode::kNotFound)) unknown->why = std::move(one.why);
  unknown->names = std::move(names);
}

}  // namespace

std::string KindClass(std::string_view group, std::string_view kind) {
  std::string name(kind);
  if (!group.empty()) name.append(".").append(group);
  return name;
}

bool ClassTable::Set(std::string_view name, base::Result<ClassUsage> one) {
  if (unseen_) {
    if (const auto at = unseen_->find(name); at != unseen_->end()) unseen_->erase(at);
  }
  Class after;
  if (one) {
    after.one = std::move(*one);
  } else {
    after.unreadable = one.error();
  }
  const auto [at, added] = classes_.try_emplace(std::string(name));
  Class& held = at->second;
  // Another reason for unreadable usage is not a change: the usage is unknown either way.
  const bool same = !added && held.one == after.one &&
                    held.unreadable.has_value() == after.unreadable.has_value();
  if (!same || held.why() != after.why()) contents_ = {};
  held = std::move(after);
  return !same;
}

bool ClassTable::Remove(std::string_view name) {
  const auto at = classes_.find(name);
  if (at == classes_.end()) return false;
  classes_.erase(at);
  contents_ = {};
  return true;
}

void ClassTable::Take(const ClassTable& other, std::string_view name) {
  const Class& held = other.classes_.find(name)->second;
  Set(name, held.unreadable ? base::Result<ClassUsage>(*held.unreadable) : held.one);
}

void ClassTable::BeginSweep() {
  unseen_.emplace();
  for (const auto& [name, entry] : classes_) unseen_->insert(name);
}

std::vector<std::string> ClassTable::EndSweep() {
  std::vector<std::string> removed;
  if (!unseen_) return removed;
  for (const std::string& name : *unseen_) {
    if (Remove(name)) removed.push_back(name);
  }
  unseen_.reset();
  return removed;
}

void ClassTable::Clear() {
  classes_.clear();
  contents_ = {};
  unseen_.reset();
}

const ResourceList* ClassTable::AmountsOf(std::string_view name) const {
  const auto at = classes_.find(name);
  return at == classes_.end() ? nullptr : &at->second.one.amounts;
}

bool ClassTable::AnyUses(std::string_view resource_name) const {
  return std::any_of(classes_.begin(), classes_.end(), [&](const auto& entry) {
    return entry.second.one.amounts.Find(resource_name) != nullptr;
  });
}

std::string ClassTable::Title(std::string_view name) const {
  return std::string(called_).append(" \"").append(name).append("\"");
}

base::Result<ResourceList> ClassTable::Resolve(const Facts& facts,
                                               const std::vector<std::string>* names) const {
  for (const ClassUnits& units : facts.classes) {
    const std::optional<UnknownUsage> unknown = UnknownOf(units.name);
    if (!unknown) continue;
    // Unknown usage matters only under the names that the caller asks for.
    const auto is_unknown = [&](const std::string& name) {
      return std::ranges::binary_search(unknown->names, name);
    };
    const bool hidden =
        names == nullptr || unknown->names.empty() || std::ranges::any_of(*names, is_unknown);
    if (hidden) return unknown->why;
  }
  std::optional<UnknownUsage> ignored;
  return ResolveKnown(facts, ignored);
}

ResourceList ClassTable::ResolveKnown(const Facts& facts,
                                      std::optional<UnknownUsage>& unknown) const {
  ResourceList usage = facts.usage;
  for (const ClassUnits& units : facts.classes) {
    if (auto one = UnknownOf(units.name)) AddTo(unknown, *std::move(one));
    const auto at = classes_.find(units.name);
    if (at != classes_.end()) usage.Add(at->second.one.amounts, units.units);
  }
  return usage;
}

std::optional<UnknownUsage> ClassTable::UnknownOf(std::string_view name) const {
  const auto at = classes_.find(name);
  if (at == classes_.end()) {
    if (missing_ == MissingClass::kUsesNothing) return std::nullopt;
    return UnknownUsage{
        {.code = base::ErrorCode::kNotFound, .message = Title(name) + " not found"}};
  }
  const Class& found = at->second;
  if (found.unreadable) return UnknownUsage{found.unreadable->Wrap(Title(name))};
  if (found.one.unknown.empty()) return std::nullopt;
  // The message has one reason, the first by name.
  const base::Error why{.code = base::ErrorCode::kMalformed,
                        .message = found.one.unknown.begin()->second};
  UnknownUsage unknown{why.Wrap(Title(name))};
  for (const auto& [resource_name, reason] : found.one.unknown) {
    unknown.names.push_back(resource_name);
  }
  return unknown;
}

}  // namespace quota
