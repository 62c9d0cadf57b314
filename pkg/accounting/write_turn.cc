#include "pkg/accounting/write_turn.h"

namespace accounting {

void WriteTurn::OnWritten(base::TimePoint now, base::Duration took) {
  const bool had_time = now - took >= Ends();
  for (auto& [by, other] : others_) {
    if (other.has_turn && had_time) other.uses_turns = false;
    other.has_turn = other.uses_turns && now - other.seen <= kRecent;
  }
  in_a_row_ = had_time ? 1 : std::min(in_a_row_ + 1, kInARow);
  last_ = now;
  round_trip_ = std::min<base::Duration>(took, kLongestRoundTrip);
}

void WriteTurn::OnList(base::TimePoint now, const ReservationList& list, std::string_view own) {
  struct Latest {
    std::uint64_t n = 0;
    bool in_advance = false;
  };
  std::map<std::string_view, Latest> latest;
  for (const Reservation& entry : list.entries()) {
    if (entry.by == own) continue;
    Latest& its = latest[entry.by];
    its.n = std::max(its.n, entry.n);
    its.in_advance = its.in_advance || entry.unassigned > 0;
  }
  std::erase_if(others_, [&](const auto& entry) {
    return !latest.contains(entry.first) && now - entry.second.seen > kRecent;
  });
  for (const auto& [by, its] : latest) {
    auto other = others_.find(by);
    if (other == others_.end()) {
      if (others_.size() >= kMostOthers) continue;
      other = others_.emplace(by, Other()).first;
    }
    if (its.n <= other->second.n) continue;
    other->second = {.n = its.n, .seen = now, .has_turn = false, .uses_turns = !its.in_advance};
    last_ = now;
    in_a_row_ = 0;
  }
}

base::TimePoint WriteTurn::Next(base::TimePoint now) const {
  const bool theirs = in_a_row_ == kInARow || std::ranges::any_of(others_, [](const auto& entry) {
                        return entry.second.has_turn;
                      });
  if (!theirs || now >= Ends()) return now;
  return std::min(Ends(), now + std::max<base::Duration>(round_trip_, kShortestLook));
}

}  // namespace accounting
