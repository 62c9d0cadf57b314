#include "pkg/quota/advance.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace quota {
namespace {

// At most one part in `share` of what `hard` leaves above `used`.
bool LeavesMuch(const ResourceList& advance, int share, const ResourceList& hard,
                const ResourceList& used) {
  return std::ranges::all_of(advance, [&](const auto& entry) {
    const auto& [name, amount] = entry;
    const Quantity* limit = hard.Find(name);
    if (limit == nullptr) return false;
    const base::Result<Quantity> room = limit->Sub(used.Get(name));
    const base::Result<Quantity> whole = amount.Mul(share);
    return room && whole && *whole <= *room;
  });
}

}  // namespace

bool Contains(const ResourceList& list, const ResourceList& part) {
  return std::ranges::all_of(part, [&](const auto& entry) {
    const Quantity* amount = list.Find(entry.first);
    return amount != nullptr && entry.second <= *amount;
  });
}

ResourceList Advance::Usable(base::TimePoint now) const {
  ResourceList usable;
  for (const Part& part : parts_) {
    if (IsUsable(part, now)) (void)usable.Add(part.left);  // else it is not granted
  }
  return usable;
}

ResourceList Advance::Left() const {
  ResourceList left;
  for (const Part& part : parts_) (void)left.Add(part.left);
  return left;
}

base::TimePoint Advance::UsableSince(base::TimePoint now) const {
  for (const Part& part : parts_) {
    if (IsUsable(part, now) && !part.left.empty()) return part.charged;
  }
  return now;
}

void Advance::Draw(base::TimePoint now, const ResourceList& usage) {
  ResourceList wanted = usage;
  for (Part& part : parts_) {
    if (!IsUsable(part, now)) continue;
    const ResourceList more = Excess(wanted, part.left);
    part.left = Excess(part.left, wanted);
    wanted = more;
  }
  std::erase_if(parts_, [](const Part& part) { return part.left.empty(); });
  drawn_ = now;
}

void Advance::OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations) {
  if (now - since_ > options_.window) {
    granted_ = {};
    creations_ = 0;
    since_ = now;
  }
  // What does not fit is forgotten: then less is charged in advance.
  if (granted_.Add(usage)) creations_ += creations;
}

bool Advance::WantsMore(base::TimePoint now) const {
  const base::Duration took = now - since_;
  const bool crowd = options_.crowd > 0 && creations_ >= options_.crowd;
  if (!crowd || took < options_.shortest || took > options_.window) return false;
  return parts_.empty() || creations_ >= meant_ / 2;
}

NextAdvance Advance::Next(base::TimePoint now, const ResourceList& hard,
                          const ResourceList& used) const {
  if (!WantsMore(now)) return {};
  const auto most = static_cast<std::int64_t>(options_.most / creations_);
  const base::Duration took = std::max<base::Duration>(now - since_, std::chrono::microseconds(1));
  std::int64_t times = std::min<std::int64_t>(options_.window / took, options_.growth);
  for (times = std::min(times, most); times > 0; times /= 2) {
    ResourceList advance;
    if (advance.Add(granted_, times) && LeavesMuch(advance, options_.share, hard, used)) {
      return {std::move(advance), creations_ * static_cast<std::size_t>(times)};
    }
  }
  return {};
}

void Advance::Put(base::TimePoint now, base::TimePoint sent, NextAdvance next) {
  if (next.usage.empty() || lowered_ >= sent) return;
  parts_.push_back({sent, std::move(next.usage)});
  drawn_ = now;
  meant_ = next.creations;
  granted_ = {};
  creations_ = 0;
  since_ = now;
}

void Advance::DropIdle(base::TimePoint now) {
  if (now - drawn_ >= options_.idle) Drop();
  std::erase_if(parts_, [&](const Part& part) { return now - part.charged >= options_.usable; });
}

std::optional<base::TimePoint> Advance::NextCheck() const {
  if (parts_.empty()) return std::nullopt;
  return std::min(drawn_ + options_.idle, parts_.front().charged + options_.usable);
}

}  // namespace quota
