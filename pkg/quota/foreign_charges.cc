#include "pkg/quota/foreign_charges.h"

#include <algorithm>

namespace quota {
namespace {

constexpr base::Duration kMergeWithin = std::chrono::milliseconds(100);

// a - b where that is positive, else zero. Amounts are validated to be at least 0, so nothing
// overflows; a server that sends others gets no charge held for them.
Quantity Excess(const Quantity& a, const Quantity& b) {
  const base::Result<Quantity> difference = a.Sub(b);
  return difference && difference->Sign() > 0 ? *difference : Quantity();
}

// a + b, or the larger one if the sum does not fit.
Quantity Sum(const Quantity& a, const Quantity& b) {
  const base::Result<Quantity> sum = a.Add(b);
  return sum ? *sum : std::max(a, b);
}

}  // namespace

void ForeignCharges::OnForeignWrite(base::TimePoint now, const ResourceList& before,
                                    const ResourceList& after, const ResourceList& counted,
                                    const ResourceList* held_then) {
  DropExpired(now);
  ResourceList charged;
  ResourceList renewed;
  for (const auto& [name, used] : after) {
    const Quantity last = before.Get(name);
    const Quantity lowered = Excess(last, used);
    if (lowered.Sign() > 0) {
      const Quantity ahead = Sum(behind_.Get(name), lowered);
      behind_.Set(name, std::min(ahead, Excess(counted.Get(name), used)));
      behind_until_ = now + hold_;
    }
    const Quantity risen = Excess(used, last);
    const Quantity held =
        held_then == nullptr ? HeldOf(name) : std::min(HeldOf(name), held_then->Get(name));
    const Quantity lacking = Excess(Sum(counted.Get(name), held), last);
    const Quantity known = std::min(risen, Excess(lacking, behind_.Get(name)));
    const Quantity added = Excess(risen, known);
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
  ResourceList& newest = charges_.back().amount;
  for (const auto& [name, amount] : amounts) newest.Set(name, Sum(newest.Get(name), amount));
}

void ForeignCharges::OnAppeared(const ResourceList& usage) {
  if (overdue_.empty()) return UseUpOldest(usage);
  const ResourceList left = quota::Excess(usage, overdue_);
  overdue_ = quota::Excess(overdue_, usage);
  UseUpOldest(left);
}

void ForeignCharges::OnExpired(const ResourceList& unseen) {
  for (const auto& [name, amount] : unseen) overdue_.Set(name, Sum(overdue_.Get(name), amount));
}

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
      const Quantity rest = Excess(held, left);
      left = Excess(left, held);
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
  for (const Charge& charge : charges_) {
    for (const auto& [name, amount] : charge.amount) held.Set(name, Sum(held.Get(name), amount));
  }
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
