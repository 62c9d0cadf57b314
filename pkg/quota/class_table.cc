#include "pkg/quota/class_table.h"

#include <algorithm>
#include <utility>

namespace quota {

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
  const bool same = !added && held.one == after.one &&
                    held.unreadable.has_value() == after.unreadable.has_value();
  held = std::move(after);
  return !same;
}

bool ClassTable::Remove(std::string_view name) {
  const auto at = classes_.find(name);
  if (at == classes_.end()) return false;
  classes_.erase(at);
  return true;
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
  unseen_.reset();
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
  ResourceList usage = facts.usage;
  for (const ClassUnits& units : facts.classes) {
    if (auto added = AddUnits(units, names, usage); !added) return added.error();
  }
  return usage;
}

base::Result<void> ClassTable::AddUnits(const ClassUnits& units,
                                        const std::vector<std::string>* names,
                                        ResourceList& usage) const {
  const auto at = classes_.find(units.name);
  if (at == classes_.end()) {
    if (missing_ == MissingClass::kUsesNothing) return {};
    return base::Error{.code = base::ErrorCode::kNotFound,
                       .message = Title(units.name) + " not found"};
  }
  const Class& found = at->second;
  if (found.unreadable) return found.unreadable->Wrap(Title(units.name));
  for (const auto& [name, why] : found.one.unknown) {
    const bool matters = names == nullptr || std::ranges::find(*names, name) != names->end();
    if (!matters) continue;
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = Title(units.name) + ": " + why};
  }
  if (auto added = usage.Add(found.one.amounts, units.units); !added) {
    return added.error().Wrap(Title(units.name));
  }
  return {};
}

}  // namespace quota
