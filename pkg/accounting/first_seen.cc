#include "pkg/accounting/first_seen.h"

namespace accounting {

void FirstSeen::See(base::TimePoint now, const ReservationList& list) {
  std::map<Name, base::TimePoint> seen;
  for (const Reservation& entry : list.entries()) {
    seen.emplace(Name(entry.by, entry.n), Of(entry).value_or(now));
  }
  seen_ = std::move(seen);
}

std::optional<base::TimePoint> FirstSeen::Of(const Reservation& entry) const {
  const auto found = seen_.find({entry.by, entry.n});
  if (found == seen_.end()) return std::nullopt;
  return found->second;
}

std::optional<base::TimePoint> FirstSeen::Oldest() const {
  std::optional<base::TimePoint> oldest;
  for (const auto& [entry, at] : seen_) {
    if (!oldest || at < *oldest) oldest = at;
  }
  return oldest;
}

}  // namespace accounting
