#include "pkg/quota/cluster/selector_index.h"

#include <algorithm>

namespace quota {
namespace {

using api::LabelOperator;

void ChangeNames(auto& names, std::string_view name, bool adds) {
  if (adds) {
    names.insert(name);
  } else {
    names.erase(name);
  }
}

// Changes the names under `key`, and drops an empty entry.
void ChangeEntry(auto& map, const std::string& key, std::string_view name, bool adds) {
  const auto at = map.try_emplace(key).first;
  ChangeNames(at->second, name, adds);
  if (at->second.empty()) map.erase(at);
}

}  // namespace

void SelectorIndex::Put(std::string_view name, const api::LabelSelector& selector) {
  Change(name, selector, true);
}

void SelectorIndex::Remove(std::string_view name, const api::LabelSelector& selector) {
  Change(name, selector, false);
}

void SelectorIndex::Change(std::string_view name, const api::LabelSelector& selector, bool adds) {
  const auto& requirements = selector.requirements();
  const auto in = std::ranges::find(requirements, LabelOperator::kIn, &api::LabelRequirement::op);
  if (in != requirements.end()) {
    const auto values = by_label_.try_emplace(in->key).first;
    for (const std::string& value : in->values) ChangeEntry(values->second, value, name, adds);
    if (values->second.empty()) by_label_.erase(values);
    return;
  }
  const auto exists =
      std::ranges::find(requirements, LabelOperator::kExists, &api::LabelRequirement::op);
  if (exists != requirements.end()) return ChangeEntry(by_key_, exists->key, name, adds);
  ChangeNames(others_, name, adds);
}

void SelectorIndex::VisitCandidates(const LabelText& labels,
                                    const std::function<void(std::string_view name)>& visit) const {
  std::ranges::for_each(others_, visit);
  labels.Visit([&](std::string_view key, std::string_view value) {
    if (const auto at = by_key_.find(key); at != by_key_.end()) {
      std::ranges::for_each(at->second, visit);
    }
    const auto values = by_label_.find(key);
    if (values == by_label_.end()) return;
    const auto at = values->second.find(value);
    if (at != values->second.end()) std::ranges::for_each(at->second, visit);
  });
}

}  // namespace quota
