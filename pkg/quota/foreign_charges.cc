#include "pkg/quota/foreign_charges.h"

#include <algorithm>

#include "pkg/quota/saturating.h"

namespace quota {
namespace {

constexpr base::Duration kMergeWithin = std::chrono::milliseconds(100);

}  // namespace

void ForeignCharges::SetHold(base::Duration hold) {
  for (Charge& charge : charges_) charge.expires += hold - hold_;
  hold_ = hold;
}

void ForeignCharges::OnForeignWrite(base::TimePoint now, const ResourceList& before,
                                    const ResourceList& after, const ResourceList& counted,
                                    const ResourceList* held_then) {
  DropExpired(now);
  ResourceList charged;
  ResourceList renewed;
  for (const auto& [name, used] : after) {
    const Quantity last = before.Get(name);
    const Quantity lowered = Above(last, used);
    if (lowered.Sign() > 0) {
      const Quantity ahead = Sum(behind_.Get(name), lowered);
      behind_.Set(name, std::min(ahead, Above(counted.Get(name), used)));
      behind_until_ = now + hold_;
    }
    const Quantity risen = Above(used, last);
    const Quantity held =
        held_then == nullptr ? HeldOf(name) : std::min(HeldOf(name), held_then->Get(name));
    const Quantity lacking = Above(Sum(counted.Get(name), held), last);
    const Quantity known = std::min(risen, Above(lacking, behind_.Get(name)));
    const Quantity added = Above(risen, known);
    const Quantity again = std::min(known, held);
    if (added.Sign() > 0) charged.Set(name, added);
    if (again.Sign() > 0) renewed.Set(name, again);
  }
  Renew(now, renewed);
  Hold(now, std::move(charged));
}

void ForeignCharges::Renew(base::TimePoint now, const ResourceList& amounts) {
  UseUpOldest(amounts);
  Hold(now, amounts);
}

void ForeignCharges::Hold(base::TimePoint now, ResourceList amounts) {
  if (amounts.empty()) return;
  const base::TimePoint expires = now + hold_;
  if (charges_.empty() || expires - charges_.back().expires > kMergeWithin) {
    charges_.push_back({expires, std::move(amounts)});
    return;
  }
  AddTo(charges_.back().amount, amounts);
}

void ForeignCharges::OnAppeared(const ResourceList& usage) {
  if (overdue_.empty()) return UseUpOldest(usage);
  const ResourceList left = Excess(usage, overdue_);
  overdue_ = Excess(overdue_, usage);
  UseUpOldest(left);
}

void ForeignCharges::OnExpired(const ResourceList& unseen) { AddTo(overdue_, unseen); }

void ForeignCharges::KeepOverdue(const std::vector<std::string>& behind) {
  if (overdue_.empty()) return;
  ResourceList kept;
  for (const std::string& name : behind) {
    if (const Quantity* amount = overdue_.Find(name)) kept.Set(name, *amount);
  }
  overdue_ = std::move(kept);
}

void ForeignCharges::UseUpOldest(const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    Quantity left = amount;
    for (Charge& charge : charges_) {
      if (left.Sign() <= 0) break;
      const Quantity held = charge.amount.Get(name);
      const Quantity rest = Above(held, left);
      left = Above(left, held);
      if (rest.IsZero()) {
        charge.amount.Erase(name);
      } else {
        charge.amount.Set(name, rest);
      }
    }
  }
  std::erase_if(charges_, [](const Charge& charge) { return charge.amount.empty(); });
}

void ForeignCharges::OnShrunk(const ResourceList& usage) { behind_ = Excess(behind_, usage); }

ResourceList ForeignCharges::Held(base::TimePoint now) {
  DropExpired(now);
  ResourceList held;
  for (const Charge& charge : charges_) AddTo(held, charge.amount);
  return held;
}

std::optional<base::TimePoint> ForeignCharges::NextExpiry() const {
  if (charges_.empty()) return std::nullopt;
  return charges_.front().expires;
}

void ForeignCharges::DropExpired(base::TimePoint now) {
  while (!charges_.empty() && charges_.front().expires <= now) {
    OnExpired(charges_.front().amount);
    charges_.pop_front();
    ++expired_;
  }
  if (behind_until_ <= now) behind_ = {};
}

Quantity ForeignCharges::HeldOf(std::string_view name) const {
  Quantity held;
  for (const Charge& charge : charges_) held = Sum(held, charge.amount.Get(name));
  return held;
}

}  // namespace quota
