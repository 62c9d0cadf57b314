#include "pkg/quota/running_sum.h"

#include <glog/logging.h>

#include <algorithm>

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
    : question_(std::move(question)),
      used_(question_.names.size()),
      shared_(question_.shares ? question_.names.size() : 0) {
  CHECK(std::ranges::is_sorted(question_.names)) << "a sum would miss names";
}

void RunningSum::Add(const Facts& facts, std::int64_t objects) {
  const ScopeSelector& selector = question_.selector;
  const std::vector<std::string>& scopes = question_.known_scopes;
  if (!MatchesObject(selector, facts, scopes)) return;
  if (AsksForAny(facts.unread)) unread_ += objects;
  CHECK_GE(unread_, 0) << "more objects with unread names leave than were added";
  if (CountsParts(selector, facts)) {
    return AddTo(used_, UsageOfParts(selector, facts, scopes), objects);
  }
  if (facts.classes.empty() || question_.classes == nullptr) {
    return AddTo(used_, facts.usage, objects);
  }
  const base::Result<ResourceList> usage = question_.classes->Resolve(facts, &question_.names);
  if (!usage) return AddTrouble(usage.error(), objects);
  AddTo(used_, *usage, objects);
}

void RunningSum::AddShared(const Facts& facts, const Facts& owner, std::int64_t objects) {
  if (!question_.shares) return;
  if (!Matches(question_.selector, facts.attributes, question_.known_scopes)) return;
  const auto usage = ResolvedUsage(facts, question_.classes);
  if (!usage) return AddTrouble(usage.error(), objects);
  AddTo(shared_, Common(*usage, owner.usage), objects);
}

// Both lists are sorted by name.
void RunningSum::AddTo(std::vector<ExactSum>& sums, const ResourceList& usage,
                       std::int64_t objects) const {
  const std::vector<std::string>& names = question_.names;
  std::size_t at = 0;
  for (const auto& [name, amount] : usage) {
    while (at < names.size() && names[at] < name) ++at;
    if (at == names.size()) return;
    if (names[at] == name) sums[at].Add(amount, objects);
  }
}

void RunningSum::AddTrouble(const base::Error& why, std::int64_t objects) {
  const auto at = troubles_.try_emplace(why.message, Unknown{why.code}).first;
  at->second.objects += objects;
  CHECK_GE(at->second.objects, 0) << "more objects leave than were added: " << why.message;
  if (at->second.objects == 0) troubles_.erase(at);
}

bool RunningSum::AsksForAny(const std::vector<std::string>& names) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return std::ranges::binary_search(question_.names, name);
  });
}

bool RunningSum::operator==(const RunningSum& other) const {
  return question_ == other.question_ && used_ == other.used_ && shared_ == other.shared_ &&
         troubles_ == other.troubles_ && unread_ == other.unread_;
}

std::optional<base::Error> RunningSum::Trouble() const {
  if (troubles_.empty()) return std::nullopt;
  const auto& [message, unknown] = *troubles_.begin();
  base::Error error{.code = unknown.code, .message = message};
  if (troubles_.size() > 1) {
    error.message += ", and " + std::to_string(troubles_.size() - 1) + " more";
  }
  return error;
}

ResourceList RunningSum::Get() const {
  CHECK(troubles_.empty()) << "unknown usage is taken for known: " << troubles_.begin()->first;
  ResourceList list;
  list.Reserve(question_.names.size());
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const Quantity used = used_[i].Get();
    list.Set(question_.names[i], shared_.empty() ? used : used.Sub(shared_[i].Get()));
  }
  return list;
}

}  // namespace quota
