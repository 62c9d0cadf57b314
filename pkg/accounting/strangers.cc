#include "pkg/accounting/strangers.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/saturating.h"

namespace accounting {

void Strangers::OnStatus(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                         bool skipped, const Counted& counted) {
  if (list == nullptr) {
    OnRise(now, quota::Excess(used, used_), used_, used, counted);
    recorded_.reset();
  } else {
    const bool written = recorded_ != list->writes;
    if (skipped || !recorded_) TakeOver(now, *list);
    // From what our write made; or, if it was seen before, from what was seen.
    OnRise(now, quota::Excess(used, written ? list->used : used_), list->used, used, counted);
    recorded_ = list->writes;
  }
  used_ = used;
}

void Strangers::OnRise(base::TimePoint now, ResourceList rise, const ResourceList& before,
                       const ResourceList& used, const Counted& counted) {
  for (const auto& [name, amount] : ResourceList(rise)) {
    if (before.Find(name) == nullptr) rise.Erase(name);
  }
  if (rise.empty()) return;
  ResourceList known = counted();
  quota::AddTo(known, Held());
  Hold(now, quota::Excess(quota::Smaller(rise, quota::Excess(used, known)), {}));
}

void Strangers::OnUnanswered(const ResourceList& used) {
  if (!recorded_) used_ = quota::Smaller(used_, used);
}

void Strangers::TakeOver(base::TimePoint now, const ReservationList& list) {
  Hold(now, quota::Excess(list.strangers, Held()));
}

void Strangers::Hold(base::TimePoint now, ResourceList usage) {
  if (!usage.empty()) parts_.push_back({now, std::move(usage)});
}

void Strangers::OnAppeared(const ResourceList& usage) {
  ResourceList left = usage;
  for (Part& part : parts_) {
    const ResourceList more = quota::Excess(left, part.usage);
    part.usage = quota::Excess(part.usage, left);
    left = more;
  }
  std::erase_if(parts_, [](const Part& part) { return part.usage.empty(); });
}

std::size_t Strangers::Expire(base::TimePoint now, base::Duration hold) {
  const std::size_t parts = parts_.size();
  while (!parts_.empty() && now - parts_.front().since >= hold) parts_.pop_front();
  return parts - parts_.size();
}

ResourceList Strangers::Held() const {
  ResourceList held;
  for (const Part& part : parts_) quota::AddTo(held, part.usage);
  return held;
}

std::optional<base::TimePoint> Strangers::Oldest() const {
  if (parts_.empty()) return std::nullopt;
  return parts_.front().since;
}

}  // namespace accounting
