#include "pkg/accounting/strangers.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace accounting {
namespace {

// A plugin that writes a quota of its own raises it often, and every such rise is passed over.
constexpr std::size_t kMostPassedOver = 8;

// Returns the rise of `used`. A name that is missing in `before` was added to the quota's spec:
// that is not a rise.
ResourceList Rise(const ResourceList& before, const ResourceList& used) {
  ResourceList rise = quota::Excess(used, before);
  for (const auto& [name, amount] : ResourceList(rise)) {
    if (before.Find(name) == nullptr) rise.Erase(name);
  }
  return rise;
}

}  // namespace

void Strangers::OnStatus(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                         bool skipped, const Counted& counted, const std::string& version) {
  if (list == nullptr) {
    HoldBeyond(now, Rise(used_, used), used, counted, skipped ? std::string() : version);
    recorded_.reset();
    written_ = {};
  } else {
    // Compare with the value of our write. If that write was seen before, compare with the last
    // status instead: the rise up to it is held already.
    const bool written = recorded_ != list->writes;
    ResourceList usage = Rise(written ? list->used : used_, used);
    // The writer of the first list may count objects as observed whose deletion we have seen. So it
    // may take for them what strangers added since.
    if (!recorded_) usage.Add(Rise(used_, quota::Excess(list->used, list->Reserved())));
    // Hold only what is new in the list since the last list: what was held before and is not held
    // any more has appeared as objects. If a list in between was not shown, all of it may be new.
    const bool next = recorded_ && list->writes <= *recorded_ + 1;
    const ResourceList begun = next ? quota::Excess(list->strangers, written_) : list->strangers;
    const ResourceList missed = quota::Smaller(begun, quota::Excess(list->strangers, Held()));
    const bool exact = !skipped && recorded_;
    if (!exact) usage.Add(missed);
    HoldBeyond(now, usage, used, counted, exact ? version : std::string());
    if (written) HoldPassedOver(now, used, counted);
    recorded_ = list->writes;
    written_ = list->strangers;
  }
  used_ = used;
}

void Strangers::TakeOver(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                         const Counted& counted) {
  if (list != nullptr) HoldBeyond(now, quota::Excess(list->strangers, Held()), used, counted);
  HoldBeyond(now, std::exchange(lapsed_, {}), used, counted);
}

void Strangers::HoldBeyond(base::TimePoint now, const ResourceList& usage, const ResourceList& used,
                           const Counted& counted, const std::string& version) {
  if (usage.empty()) return;
  ResourceList known = counted();
  known.Add(Held());
  ResourceList held = quota::Excess(quota::Smaller(usage, quota::Excess(used, known)), {});
  ResourceList passed_over = quota::Excess(usage, held);
  Hold(now, std::move(held), version);
  DropPassedOver(now);
  if (passed_over.empty()) return;
  if (passed_over_.size() >= kMostPassedOver) {
    passed_over_.back().usage.Add(passed_over);
    passed_over_.back().version.clear();
  } else {
    passed_over_.push_back({now, std::move(passed_over), version});
  }
}

void Strangers::DropPassedOver(base::TimePoint now) {
  std::erase_if(passed_over_, [&](const Part& part) {
    return part.usage.empty() || now - part.since >= kCatchesUp;
  });
}

void Strangers::HoldPassedOver(base::TimePoint now, const ResourceList& used,
                               const Counted& counted) {
  DropPassedOver(now);
  if (passed_over_.empty()) return;
  ResourceList known = counted();
  known.Add(Held());
  ResourceList left = quota::Excess(quota::Excess(used, known), {});
  for (Part& part : passed_over_) {
    ResourceList rest = quota::Excess(part.usage, left);
    ResourceList held = quota::Excess(part.usage, rest);
    left = quota::Excess(left, held);
    Hold(now, std::move(held), part.version);
    part.usage = std::move(rest);
  }
  DropPassedOver(now);
}

void Strangers::OnUnanswered(const ResourceList& used) {
  if (recorded_) return;
  // With the smaller value a later rise may look too large, but none is missed. A name that is new
  // rises from the value of this write.
  ResourceList smaller = quota::Smaller(used_, used);
  for (const auto& [name, amount] : used) {
    if (used_.Find(name) == nullptr) smaller.Set(name, amount);
  }
  used_ = std::move(smaller);
}

void Strangers::OnFirstCount(base::TimePoint now, const ResourceList& used,
                             const ResourceList& usage, const ResourceList& most) {
  const ResourceList before = Held();
  ResourceList held;
  for (const auto& [name, amount] : used) held.Set(name, before.Get(name));
  for (Part& part : parts_) {
    for (const auto& [name, amount] : used) part.usage.Erase(name);
  }
  std::erase_if(parts_, [](const Part& part) { return part.usage.empty(); });
  for (Part& part : passed_over_) {
    for (const auto& [name, amount] : used) part.usage.Erase(name);
  }
  Hold(now, quota::Excess(quota::Larger(usage, quota::Smaller(held, most)), {}));
}

void Strangers::Hold(base::TimePoint now, ResourceList usage, std::string version) {
  if (usage.empty()) return;
  CHECK(parts_.empty() || parts_.back().since <= now) << "a part older than the last one";
  parts_.push_back({now, std::move(usage), std::move(version)});
}

Strangers::Parts Strangers::OnAppeared(const ResourceList& usage, std::string_view version) {
  Parts used_up;
  ResourceList left = usage;
  for (Part& part : parts_) {
    if (api::IsKnownOlder(version, part.version)) continue;
    ResourceList rest = quota::Excess(part.usage, left);
    ResourceList taken = quota::Excess(part.usage, rest);
    left = quota::Excess(left, taken);
    part.usage = std::move(rest);
    if (!taken.empty()) used_up.push_back({part.since, std::move(taken), part.version});
  }
  std::erase_if(parts_, [](const Part& part) { return part.usage.empty(); });
  return used_up;
}

void Strangers::HoldAgain(const Parts& parts) {
  for (const Part& part : parts) {
    parts_.insert(std::ranges::upper_bound(parts_, part.since, {}, &Part::since), part);
  }
}

std::size_t Strangers::Expire(base::TimePoint now, base::Duration hold,
                              const ShownUntil& shown_until) {
  const auto is_over = [&](const Part& part) { return now - part.since >= hold; };
  std::size_t changed = 0;
  for (Part& part : parts_) {
    if (!is_over(part)) break;
    const auto is_shown = [&](const ResourceList::Item& item) {
      return shown_until(item.first) >= part.since + hold;
    };
    if (part.usage.EraseIf(is_shown) > 0) ++changed;
  }
  std::erase_if(parts_, [](const Part& part) { return part.usage.empty(); });
  // A kind that cannot be listed may stay so for days, while strangers go on.
  while (parts_.size() > 1 && is_over(*std::next(parts_.begin()))) {
    Part& next = *std::next(parts_.begin());
    next.usage.Add(parts_.front().usage);
    next.version.clear();
    parts_.pop_front();
  }
  return changed;
}

void Strangers::Lapse(base::TimePoint now, base::Duration hold) {
  const ResourceList before = Held();
  const std::size_t lapsed = Expire(now, hold, [&](std::string_view) { return now; });
  if (lapsed > 0) lapsed_.Add(quota::Excess(before, Held()));
}

ResourceList Strangers::Held() const {
  ResourceList held;
  for (const Part& part : parts_) held.Add(part.usage);
  return held;
}

std::optional<base::TimePoint> Strangers::Oldest() const {
  if (parts_.empty()) return std::nullopt;
  return parts_.front().since;
}

}  // namespace accounting
