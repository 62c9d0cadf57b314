#include "pkg/quota/charges.h"

#include <algorithm>

#include "pkg/api/resource_version.h"
#include "pkg/quota/saturating.h"

namespace quota {
namespace {

bool Reaches(const ResourceList& seen, const ResourceList& amount) {
  return Excess(amount, seen).empty();
}

// The object has been stored with `stored`: what it grew beyond the base was added for that.
void UseUp(Charge& charge, const ResourceList& stored) {
  ResourceList left;
  for (const auto& [name, added] : charge.added) {
    const Quantity now = stored.Get(name);
    const Quantity base = charge.base.Get(name);
    const Quantity rest = Above(added, Above(now, base));
    charge.base.Set(name, std::max(now, base));
    if (rest.Sign() > 0) left.Set(name, rest);
  }
  charge.added = std::move(left);
}

}  // namespace

ResourceList PaidFor(const Charge& charge, const ResourceList& stored) {
  ResourceList paid;
  for (const auto& [name, amount] : charge.amount) {
    const Quantity base = std::min(stored.Get(name), charge.base.Get(name));
    paid.Set(name, std::min(amount, Sum(base, charge.added.Get(name))));
  }
  return paid;
}

void Extend(Charge& charge, const Charge& more) {
  UseUp(charge, more.base);
  charge.base = more.base;
  AddTo(charge.added, more.added);
}

void Charges::Grant(base::TimePoint now, const Uid& uid, const Charge& more,
                    const ResourceList* seen, std::string_view version, std::uint64_t number) {
  const bool anew = Covering(now, uid, version) == nullptr;
  const auto [entry, added] = charges_.try_emplace(uid);
  Held& held = entry->second;
  Count(held, -1);
  held.before = added ? nullptr : std::make_unique<Terms>(held);
  if (added) held.first = now;
  if (seen != nullptr) {
    held.seen = *seen;
    held.shown = true;
  }
  const ResourceList known = Larger(held.charge.amount, held.seen);
  held.charge.amount = Larger(held.charge.amount, PaidFor({more.amount, more.added, known}, known));
  if (anew) {
    held.charge.added = {};
  } else {
    UseUp(held.charge, more.base);
  }
  if (held.charge.added.empty()) held.since = now;
  Extend(held.charge, more);
  const bool renewed = added || held.shown || now - held.first <= hold_;
  if (renewed) held.granted = now;
  held.version = version;
  NoteAsked(held, version);
  held.last = number;
  held.relying = 1;
  held.lowerings = lowerings_;
  Count(held, +1);
  if (Reaches(held.seen, held.charge.amount)) return Drop(entry);
  if (renewed) order_.emplace_back(now, uid);
}

const Charge* Charges::Covering(base::TimePoint now, const Uid& uid,
                                std::string_view version) const {
  const auto found = charges_.find(uid);
  if (found == charges_.end() || now - found->second.since > kCovers) return nullptr;
  const Held& held = found->second;
  return held.lowerings == lowerings_ || held.version == version ? &held.charge : nullptr;
}

std::uint64_t Charges::Cover(base::TimePoint now, const Uid& uid, std::string_view version) {
  if (Covering(now, uid, version) == nullptr) return 0;
  Held& held = charges_.find(uid)->second;
  NoteAsked(held, version);
  ++held.relying;
  return held.last;
}

void Charges::NoteAsked(Held& held, std::string_view version) {
  if (version.empty() || api::IsOlderVersion(version, held.asked) == std::optional(true)) return;
  held.asked = version;
}

std::string_view Charges::AskedAbout(const Uid& uid) const {
  const auto found = charges_.find(uid);
  return found == charges_.end() ? std::string_view() : found->second.asked;
}

ResourceList Charges::OnSeen(const Uid& uid, const ResourceList& before, const ResourceList* usage,
                             bool past) {
  const ResourceList none;
  const ResourceList& now_used = usage != nullptr ? *usage : none;
  const auto found = charges_.find(uid);
  if (found == charges_.end()) return Excess(now_used, before);
  Held& held = found->second;
  ResourceList foreign = Excess(now_used, Larger(before, held.charge.amount));
  Count(held, -1);
  held.seen = now_used;
  held.shown = true;
  Count(held, +1);
  UseUp(held.charge, held.seen);
  held.reached = held.reached || Reaches(held.seen, held.charge.amount);
  if (held.reached && (past || held.asked.empty())) Drop(found);
  return foreign;
}

void Charges::Release(const Uid& uid, std::uint64_t number) {
  const auto found = charges_.find(uid);
  if (number == 0 || found == charges_.end()) return;
  Held& held = found->second;
  if (held.last != number || --held.relying > 0) return;
  if (held.before == nullptr) return Drop(found);
  Count(held, -1);
  static_cast<Terms&>(held) = std::move(*std::exchange(held.before, nullptr));
  held.last = 0;  // who relies on what there was before is not known any more
  Count(held, +1);
  UseUp(held.charge, held.seen);
  if (Reaches(held.seen, held.charge.amount)) Drop(found);
}

void Charges::OnGone(const Uid& uid) {
  const auto found = charges_.find(uid);
  if (found != charges_.end()) Drop(found);
}

ExpiredCharges Charges::Expire(base::TimePoint now) {
  ExpiredCharges expired;
  while (!order_.empty() && now - order_.front().first >= hold_) {
    const auto [granted, uid] = order_.front();
    order_.pop_front();
    const auto found = charges_.find(uid);
    if (found == charges_.end() || found->second.granted != granted) continue;
    ++expired.charges;
    AddTo(expired.unseen, Excess(found->second.charge.amount, found->second.seen));
    Drop(found);
  }
  // What was seen in time leaves its place in the order behind: that of a charge that never was.
  while (!order_.empty() && IsStale(order_.front())) order_.pop_front();
  return expired;
}

bool Charges::IsStale(const std::pair<base::TimePoint, Uid>& place) const {
  const auto found = charges_.find(place.second);
  return found == charges_.end() || found->second.granted != place.first;
}

void Charges::Drop(ChargesByUid::iterator charge) {
  Count(charge->second, -1);
  charges_.erase(charge);
  if (!charges_.empty()) return;
  total_ = {};
  total_is_exact_ = true;
}

void Charges::Count(const Held& held, int sign) {
  for (const auto& [name, amount] : Excess(held.charge.amount, held.seen)) {
    const Quantity before = total_.Get(name);
    const base::Result<Quantity> after = sign > 0 ? before.Add(amount) : before.Sub(amount);
    if (!after) {
      total_is_exact_ = false;
    } else if (after->Sign() == 0) {
      total_.Erase(name);
    } else {
      total_.Set(name, *after);
    }
  }
}

std::vector<Uid> Charges::Objects() const {
  std::vector<Uid> objects;
  for (const auto& [uid, held] : charges_) objects.push_back(uid);
  return objects;
}

ResourceList Charges::Outstanding() const {
  if (total_is_exact_) return total_;
  ResourceList total;
  for (const auto& [uid, held] : charges_) {
    AddTo(total, Excess(held.charge.amount, held.seen));
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
