#include "pkg/quota/charges.h"

#include <algorithm>

namespace quota {
namespace {

bool Reaches(const ResourceList& seen, const ResourceList& amount) {
  return Excess(amount, seen).empty();
}

}  // namespace

void Charges::Grant(base::TimePoint now, const Uid& uid, const ResourceList& amount,
                    const ResourceList* seen) {
  Charge& charge = charges_[uid];
  charge.amount = Larger(charge.amount, amount);
  if (seen != nullptr) charge.seen = *seen;
  charge.granted = now;
  if (Reaches(charge.seen, charge.amount)) {
    charges_.erase(uid);
    return;
  }
  order_.emplace_back(now, uid);
}

const ResourceList* Charges::Covering(base::TimePoint now, const Uid& uid) const {
  const auto found = charges_.find(uid);
  if (found == charges_.end() || now - found->second.granted > hold_ / 2) return nullptr;
  return &found->second.amount;
}

ResourceList Charges::OnSeen(const Uid& uid, const ResourceList& before,
                             const ResourceList* usage) {
  const ResourceList none;
  const ResourceList& now_used = usage != nullptr ? *usage : none;
  const auto found = charges_.find(uid);
  if (found == charges_.end()) return Excess(now_used, before);
  Charge& charge = found->second;
  ResourceList foreign = Excess(now_used, Larger(before, charge.amount));
  charge.seen = now_used;
  if (Reaches(charge.seen, charge.amount)) charges_.erase(found);
  return foreign;
}

void Charges::Release(const Uid& uid, const ResourceList* before) {
  const auto found = charges_.find(uid);
  if (found == charges_.end()) return;
  Charge& charge = found->second;
  if (before != nullptr) charge.amount = *before;
  if (before == nullptr || Reaches(charge.seen, charge.amount)) charges_.erase(found);
}

void Charges::OnGone(const Uid& uid) { charges_.erase(uid); }

std::size_t Charges::Expire(base::TimePoint now) {
  std::size_t expired = 0;
  while (!order_.empty() && now - order_.front().first >= hold_) {
    const auto [granted, uid] = order_.front();
    order_.pop_front();
    const auto found = charges_.find(uid);
    if (found == charges_.end() || found->second.granted != granted) continue;
    charges_.erase(found);
    ++expired;
  }
  // What was seen in time leaves its place in the order behind: that of a charge that never was.
  while (!order_.empty() && IsStale(order_.front())) order_.pop_front();
  return expired;
}

bool Charges::IsStale(const std::pair<base::TimePoint, Uid>& place) const {
  const auto found = charges_.find(place.second);
  return found == charges_.end() || found->second.granted != place.first;
}

ResourceList Charges::Outstanding() const {
  ResourceList total;
  for (const auto& [uid, charge] : charges_) {
    for (const auto& [name, amount] : Excess(charge.amount, charge.seen)) {
      const base::Result<Quantity> sum = total.Get(name).Add(amount);
      total.Set(name, sum ? *sum : std::max(total.Get(name), amount));
    }
  }
  return total;
}

std::optional<base::TimePoint> Charges::NextExpiry() const {
  for (const auto& place : order_) {
    if (!IsStale(place)) return place.first + hold_;
  }
  return std::nullopt;
}

}  // namespace quota
