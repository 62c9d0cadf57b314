#include "pkg/accounting/external_charges.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/accounting/settle.h"
#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace accounting {
namespace {

// A plugin that writes a quota of its own raises it often, and every such rise is passed over.
constexpr std::size_t kMostPassedOver = 8;
// About as many objects as are stored while a watch lags as usual.
constexpr std::size_t kMostUsedUp = 64;

// Returns the rise of `used`. A name that is missing in `before` was added to the quota's spec:
// that is not a rise.
ResourceList Rise(const ResourceList& before, const ResourceList& used) {
  ResourceList rise = quota::Excess(used, before);
  rise.EraseIf([&](const auto& item) { return before.Find(item.first) == nullptr; });
  return rise;
}

// What the list shows of external charges: what it records, and what was added since that write.
ResourceList ShownBy(const ReservationList& list, const ResourceList& used) {
  ResourceList shown = list.external;
  shown.Add(quota::Excess(used, list.used));
  return shown;
}

// True if the object may have got this version by the request of an entry.
bool Explains(const ReservationList& list, const Growth& growth) {
  return std::ranges::any_of(list.entries(), [&](const Reservation& entry) {
    return entry.Names(growth.uid) &&
           (entry.from.empty() || api::IsKnownOlder(entry.from, growth.version));
  });
}

// Moves what the part has of `wanted` out of both, and returns it.
ResourceList TakeFrom(ExternalCharges::Part& part, ResourceList& wanted) {
  ResourceList rest = quota::Excess(part.usage, wanted);
  ResourceList taken = quota::Excess(part.usage, rest);
  wanted = quota::Excess(wanted, taken);
  part.usage = std::move(rest);
  return taken;
}

void DropEmpty(ExternalCharges::Parts& parts) {
  std::erase_if(parts, [](const ExternalCharges::Part& part) { return part.usage.empty(); });
}

}  // namespace

void ExternalCharges::OnStatus(base::TimePoint now, const ResourceList& used,
                               const ReservationList* list, bool skipped, const Counted& counted,
                               const std::string& version) {
  if (list == nullptr) {
    HoldBeyond(now, Rise(used_, used), used, counted, skipped ? std::string() : version);
    // Somebody removed the list. Objects that it had may still be stored, so every name is compared
    // with its count again.
    if (recorded_) counted_names_.clear();
    recorded_.reset();
    written_ = {};
  } else {
    HoldUsedUp(now, *list);
    // Compare with the value of our write. If that write was seen before, compare with the last
    // status instead: the rise up to it is held already.
    const bool written = recorded_ != list->writes;
    ResourceList usage = Rise(written ? list->used : used_, used);
    // The writer of the first list may count objects as observed whose deletion we have seen. So it
    // may take for them what was added since.
    if (!recorded_) usage.Add(Rise(used_, quota::Excess(list->used, list->Reserved())));
    // Hold only what is new in the list since the last list: what was held before and is not held
    // any more has appeared as objects. If a list in between was not shown, all of it may be new.
    const bool next = recorded_ && list->writes <= *recorded_ + 1;
    const ResourceList begun = next ? quota::Excess(list->external, written_) : list->external;
    const ResourceList missed = quota::Smaller(begun, quota::Excess(list->external, Held()));
    const bool exact = !skipped && recorded_;
    if (!exact) usage.Add(missed);
    HoldBeyond(now, usage, used, counted, exact ? version : std::string());
    if (written) HoldPassedOver(now, used, counted);
    recorded_ = list->writes;
    written_ = list->external;
  }
  used_ = used;
}

void ExternalCharges::Lead(base::TimePoint now, bool leads, const ResourceList& used,
                           const ReservationList* list, const Counted& counted) {
  if (std::exchange(leads_, leads) || !leads) return;
  if (list != nullptr) HoldBeyond(now, quota::Excess(list->external, Held()), used, counted);
  HoldBeyond(now, std::exchange(lapsed_, {}), used, counted);
}

void ExternalCharges::HoldBeyond(base::TimePoint now, const ResourceList& usage,
                                 const ResourceList& used, const Counted& counted,
                                 const std::string& version) {
  if (usage.empty()) return;
  ResourceList held = quota::Excess(quota::Smaller(usage, Unexplained(used, counted)), {});
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

void ExternalCharges::DropPassedOver(base::TimePoint now) {
  std::erase_if(passed_over_, [&](const Part& part) {
    return part.usage.empty() || now - part.since >= kCatchesUp;
  });
}

void ExternalCharges::HoldPassedOver(base::TimePoint now, const ResourceList& used,
                                     const Counted& counted) {
  DropPassedOver(now);
  if (passed_over_.empty()) return;
  ResourceList left = Unexplained(used, counted);
  for (Part& part : passed_over_) Hold(now, TakeFrom(part, left), part.version);
  DropPassedOver(now);
}

void ExternalCharges::HoldUsedUp(base::TimePoint now, const ReservationList& list) {
  std::erase_if(used_up_, [&](const UsedUp& used_up) {
    const base::Duration kept = used_up.in_burst ? kEndsBurst : base::Duration(kCatchesUp);
    if (now - used_up.at >= kept) return true;
    const Growth& by = used_up.by;
    const bool reserved =
        Explains(list, by) || (used_up.in_burst && IsWithinFloor(list, by.resource, by.version));
    if (!reserved) return false;
    for (const Part& part : used_up.parts) {
      parts_.insert(std::ranges::upper_bound(parts_, part.since, {}, &Part::since), part);
    }
    return true;
  });
}

ResourceList ExternalCharges::Unexplained(const ResourceList& used, const Counted& counted) const {
  ResourceList known = counted();
  known.Add(Held());
  return quota::Excess(used, known);
}

void ExternalCharges::OnWritten(base::TimePoint now, base::TimePoint began,
                                const ResourceList& written, const ResourceList& used,
                                const Counted& counted) {
  HoldBeyond(now, quota::Excess(Rise(written, used), MeasuredAfter(began)), used, counted);
  used_ = used;
}

ResourceList ExternalCharges::MeasuredAfter(base::TimePoint since) const {
  ResourceList measured;
  const auto add = [&](const Parts& parts) {
    for (const Part& part : parts) {
      if (part.since > since) measured.Add(part.usage);
    }
  };
  add(parts_);
  add(passed_over_);
  for (const UsedUp& used_up : used_up_) add(used_up.parts);
  return measured;
}

void ExternalCharges::OnUnanswered(const ResourceList& used) {
  if (recorded_) return;
  // With the smaller value a later rise may look too large, but none is missed. A name that is new
  // rises from the value of this write.
  ResourceList smaller = quota::Smaller(used_, used);
  for (const auto& [name, amount] : used) {
    if (used_.Find(name) == nullptr) smaller.Set(name, amount);
  }
  used_ = std::move(smaller);
}

void ExternalCharges::OnFirstCount(base::TimePoint now, const ResourceList& used,
                                   const ReservationList* list, const Counted& counted) {
  const auto is_known = [&](const auto& item) { return counted_names_.contains(item.first); };
  if (std::ranges::all_of(used, is_known)) return;
  const ResourceList known = counted();
  const ResourceList before = Held();
  ResourceList first;  // names that are counted for the first time
  ResourceList held;   // what was held under them before
  for (const auto& [name, amount] : used) {
    if (known.Find(name) == nullptr || !counted_names_.insert(name).second) continue;
    first.Set(name, amount);
    held.Set(name, before.Get(name));
  }
  const auto is_first = [&](const auto& item) { return first.Find(item.first) != nullptr; };
  for (Part& part : parts_) part.usage.EraseIf(is_first);
  for (Part& part : passed_over_) part.usage.EraseIf(is_first);
  DropEmpty(parts_);
  const ResourceList most = quota::Excess(first, known);
  const ResourceList shown = list != nullptr ? quota::Smaller(most, ShownBy(*list, first)) : most;
  Hold(now, quota::Excess(quota::Larger(shown, quota::Smaller(held, most)), {}));
}

void ExternalCharges::Hold(base::TimePoint now, ResourceList usage, std::string version) {
  if (usage.empty()) return;
  CHECK(parts_.empty() || parts_.back().since <= now) << "a part older than the last one";
  parts_.push_back({now, std::move(usage), std::move(version)});
}

void ExternalCharges::OnAppeared(base::TimePoint now, Growth growth, const ReservationList* list) {
  if (list != nullptr && IsWithinFloor(*list, growth.resource, growth.version)) return;
  Parts used_up;
  ResourceList left = growth.usage;
  for (Part& part : parts_) {
    if (api::IsKnownOlder(growth.version, part.version)) continue;
    ResourceList taken = TakeFrom(part, left);
    if (!taken.empty()) used_up.push_back({part.since, std::move(taken), part.version});
  }
  DropEmpty(parts_);
  if (used_up.empty()) return;
  if (used_up_.size() >= kMostUsedUp) used_up_.pop_front();
  const bool in_burst = list != nullptr && list->HasUnassigned();
  used_up_.push_back({now, std::move(growth), std::move(used_up), in_burst});
}

std::size_t ExternalCharges::Expire(base::TimePoint now, base::Duration hold,
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
  DropEmpty(parts_);
  // A kind that cannot be listed may stay so for days, while external writers go on.
  while (parts_.size() > 1 && is_over(*std::next(parts_.begin()))) {
    Part& next = *std::next(parts_.begin());
    next.usage.Add(parts_.front().usage);
    next.version.clear();
    parts_.pop_front();
  }
  return changed;
}

void ExternalCharges::Lapse(base::TimePoint now, base::Duration hold) {
  const ResourceList before = Held();
  const std::size_t lapsed = Expire(now, hold, [&](std::string_view) { return now; });
  if (lapsed > 0) lapsed_.Add(quota::Excess(before, Held()));
}

ResourceList ExternalCharges::Held() const {
  ResourceList held;
  for (const Part& part : parts_) held.Add(part.usage);
  return held;
}

ResourceList ExternalCharges::ToRecord(const ResourceList& used, const ReservationList* list,
                                       bool leads) const {
  return (leads && leads_) || list == nullptr ? Held() : ShownBy(*list, used);
}

std::optional<base::TimePoint> ExternalCharges::Oldest() const {
  if (parts_.empty()) return std::nullopt;
  return parts_.front().since;
}

}  // namespace accounting
