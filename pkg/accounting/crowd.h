#pragma once

// The creations that come to one quota, and how much to reserve for those to come, so that in a
// crowd few need a write of their own (DESIGN.md). No clock of its own, one thread.

#include <cstddef>

#include "pkg/accounting/reservation.h"
#include "pkg/base/clock.h"

namespace accounting {

struct CrowdOptions {
  std::size_t crowd = 16;  // creations within `window`; 0: nothing is reserved for those to come
  base::Duration window = std::chrono::milliseconds(250);   // a burst is to last for so long
  base::Duration shortest = std::chrono::milliseconds(10);  // what comes within it is no crowd
  std::size_t most = 256;  // creations, that one burst is meant for
  int growth = 4;          // and no more than so many times those that came
  int share = 16;          // of what is left below a limit, one part of so many
};

// What to reserve.
struct NextBurst {
  ResourceList usage;         // empty: nothing
  std::size_t creations = 0;  // that it is meant for
};

class Crowd {
 public:
  explicit Crowd(CrowdOptions options) : options_(options) {}

  // So many creations were granted that much, from a burst or otherwise.
  void OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations);
  // For as many as come within `window`, and no more than a share of what `hard` leaves above
  // `used`; nothing, unless a crowd is there and what it has will not last.
  [[nodiscard]] NextBurst Next(base::TimePoint now, const ResourceList& hard,
                               const ResourceList& used) const;
  // That was reserved.
  void OnReserved(base::TimePoint now, std::size_t creations);

 private:
  CrowdOptions options_;
  std::size_t meant_ = 0;  // creations, that the last burst is for
  // What was granted since that was reserved, or the crowd began.
  ResourceList granted_;
  std::size_t creations_ = 0;
  base::TimePoint since_{};
};

}  // namespace accounting
