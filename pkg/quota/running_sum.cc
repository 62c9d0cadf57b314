#include "pkg/quota/running_sum.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>

namespace quota {

ResourceList Common(const ResourceList& a, const ResourceList& b) {
  ResourceList common;
  for (const auto& [name, amount] : a) {
    const Quantity* other = b.Find(name);
    if (other == nullptr || amount.Sign() <= 0 || other->Sign() <= 0) continue;
    common.Set(name, std::min(amount, *other));
  }
  return common;
}

base::Result<ResourceList> ResolvedUsage(const Facts& facts, const ClassTable* classes) {
  if (facts.classes.empty() || classes == nullptr) return facts.usage;
  return classes->Resolve(facts);
}

RunningSum::RunningSum(SumQuestion question)
    : question_(std::move(question)), amounts_(question_.names.size()) {
  CHECK(std::ranges::is_sorted(question_.names)) << "a sum would miss names";
}

void RunningSum::Add(const Facts& facts, std::int64_t objects) {
  const ScopeSelector& selector = question_.selector;
  const std::vector<std::string>& scopes = question_.known_scopes;
  if (!MatchesObject(selector, facts, scopes)) return;
  bool unread = false;
  for (const std::string& name : facts.unread) {
    Amount* const amount = Find(name);
    if (amount == nullptr) continue;
    unread = true;
    amount->unread += objects;
    CHECK_GE(amount->unread, 0) << "more objects leave than were added that lack " << name;
  }
  if (unread) unread_objects_ += objects;
  if (CountsParts(selector, facts)) {
    return AddTo(&Amount::used, UsageOfParts(selector, facts, scopes), objects);
  }
  if (facts.classes.empty() || question_.classes == nullptr) {
    return AddTo(&Amount::used, facts.usage, objects);
  }
  AddTo(&Amount::used, Resolve(facts, objects), objects);
}

void RunningSum::AddShared(const Facts& facts, const Facts& owner, std::int64_t objects) {
  if (!question_.shares) return;
  if (!Matches(question_.selector, facts.attributes, question_.known_scopes)) return;
  AddTo(&Amount::shared, Common(Resolve(facts, objects), owner.usage), objects);
}

ResourceList RunningSum::Resolve(const Facts& facts, std::int64_t objects) {
  if (question_.classes == nullptr) return facts.usage;
  for (const ClassUnits& units : facts.classes) {
    const std::optional<UnknownUsage> unknown = question_.classes->UnknownOf(units.name);
    if (!unknown) continue;
    for (const std::string& name : unknown->names) {
      if (Amount* const amount = Find(name)) AddUnknown(*amount, unknown->why, objects);
    }
    if (!unknown->names.empty()) continue;
    for (Amount& amount : amounts_) AddUnknown(amount, unknown->why, objects);
  }
  std::optional<UnknownUsage> noted;
  return question_.classes->ResolveKnown(facts, noted);
}

// Both lists are sorted by name.
void RunningSum::AddTo(ExactSum Amount::*sum, const ResourceList& usage, std::int64_t objects) {
  const std::vector<std::string>& names = question_.names;
  std::size_t at = 0;
  for (const auto& [name, amount] : usage) {
    while (at < names.size() && names[at] < name) ++at;
    if (at == names.size()) return;
    if (names[at] == name) (amounts_[at].*sum).Add(amount, objects);
  }
}

void RunningSum::AddUnknown(Amount& amount, const base::Error& why, std::int64_t objects) {
  const auto at = amount.by_class.try_emplace(why.message, Unknown{why.code}).first;
  at->second.objects += objects;
  CHECK_GE(at->second.objects, 0) << "more objects leave than were added: " << why.message;
  if (at->second.objects == 0) amount.by_class.erase(at);
}

RunningSum::Amount* RunningSum::Find(std::string_view name) {
  const auto at = std::ranges::lower_bound(question_.names, name);
  if (at == question_.names.end() || *at != name) return nullptr;
  return &amounts_[static_cast<std::size_t>(at - question_.names.begin())];
}

bool RunningSum::operator==(const RunningSum& other) const {
  return question_ == other.question_ && amounts_ == other.amounts_ &&
         unread_objects_ == other.unread_objects_;
}

std::vector<UnknownUsage> RunningSum::UnknownByClass() const {
  std::vector<UnknownUsage> all;
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    const auto& by_class = amounts_[i].by_class;
    if (by_class.empty()) continue;
    const base::ErrorCode code = by_class.begin()->second.code;
    const auto same = std::ranges::find_if(
        all, [&](const UnknownUsage& usage) { return usage.why.code == code; });
    if (same != all.end()) {
      same->names.push_back(question_.names[i]);
      continue;
    }
    base::Error why{.code = code, .message = by_class.begin()->first};
    if (by_class.size() > 1) {
      why.message += ", and " + std::to_string(by_class.size() - 1) + " more";
    }
    all.push_back({std::move(why), {question_.names[i]}});
  }
  return all;
}

std::vector<std::string> RunningSum::UnreadNames() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    if (amounts_[i].unread > 0) names.push_back(question_.names[i]);
  }
  return names;
}

ResourceList RunningSum::Get() const {
  ResourceList list;
  list.Reserve(question_.names.size());
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    const Quantity used = amounts_[i].used.Get();
    list.Set(question_.names[i], question_.shares ? used.Sub(amounts_[i].shared.Get()) : used);
  }
  return list;
}

}  // namespace quota
