#pragma once

// Paces the writes of one quota by the bytes of its list: each write makes a revision with the
// whole list, which etcd keeps until it is compacted. Writes of short lists never wait. No clock of
// its own, one thread.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

// The bytes of lists that one process writes to one quota: this rate for hours, and so much at
// once.
inline constexpr std::size_t kListBytesASecond = std::size_t{256} * 1024;
inline constexpr std::size_t kListBytesAtOnce = std::size_t{512} * 1024;

// The time that these bytes take at the rate.
constexpr base::Duration PacedTime(std::size_t bytes) {
  return std::chrono::nanoseconds(std::chrono::seconds(1)) * bytes / kListBytesASecond;
}

class WritePace {
 public:
  // A list of so many bytes is written now.
  void OnWrite(base::TimePoint now, std::size_t bytes) {
    paid_until_ = std::max(paid_until_, now) + PacedTime(bytes);
  }
  // The time before which admission does not write. A batch waits once, so it always gets on.
  [[nodiscard]] base::TimePoint ForAdmission() const {
    return paid_until_ - PacedTime(kListBytesAtOnce);
  }
  // The same for a recount. It comes earlier by the longest list, so that a crowd of admissions
  // does not keep recounts away: one may always follow a write of admission.
  [[nodiscard]] base::TimePoint ForRecount() const { return ForAdmission() - kLongestStep; }

  static constexpr base::Duration kLongestStep = PacedTime(Bounds().bytes);
  // The longest that admission waits: after a write of its own and a recount.
  static constexpr base::Duration kLongestWait = 2 * kLongestStep;

 private:
  base::TimePoint paid_until_{};
};

static_assert(WritePace::kLongestStep == std::chrono::milliseconds(250));

}  // namespace accounting
