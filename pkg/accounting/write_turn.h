#pragma once

// Shares the writes of one quota between processes. After a write, each of the others gets a
// conflict, reads the quota, and writes again. The writer needs no read, so it would win each time,
// until requests of the others reach their deadlines. So after its own write a process waits for
// the others that have made reservations lately, until each has written or had the time to write.
// A process that has never won is not known, so each process also pauses after some writes in a
// row. One that has reserved in advance grants from that and writes seldom, so nobody waits for it.
// No clock of its own, one thread.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

class WriteTurn {
 public:
  // A process that lost needs two round trips to write: it reads, then writes. One more, because
  // its round trips may be slower than ours.
  static constexpr int kRoundTrips = 3;
  static constexpr std::chrono::milliseconds kLongestRoundTrip{50};
  static constexpr std::chrono::milliseconds kShortestLook{1};
  // So many writes of one process follow each other without a pause.
  static constexpr int kInARow = 8;
  // A process that has made no reservation for this time gets no turn.
  static constexpr std::chrono::seconds kRecent{1};
  // A list may name more processes than exist. Further ones get no turn.
  static constexpr std::size_t kMostOthers = 16;

  // A write of this process was stored. Its answer came `took` after its request.
  void OnWritten(base::TimePoint now, base::Duration took);
  // The quota has this list now. `own`: the name of this process in it.
  void OnList(base::TimePoint now, const ReservationList& list, std::string_view own);
  // While it is the turn of others, returns when to look again. Otherwise `now`.
  [[nodiscard]] base::TimePoint Next(base::TimePoint now) const;

 private:
  struct Other {
    std::uint64_t n = 0;  // of its latest entry
    base::TimePoint seen{};
    bool has_turn = false;
    // It has nothing reserved in advance, and wrote in its last turn or has not had one yet.
    bool uses_turns = false;
  };
  [[nodiscard]] base::TimePoint Ends() const { return last_ + kRoundTrips * round_trip_; }

  std::map<std::string, Other, std::less<>> others_;  // in the list, or seen lately
  base::TimePoint last_{};  // when a write, of any process, was last noticed
  base::Duration round_trip_{};
  int in_a_row_ = 0;
};

}  // namespace accounting
