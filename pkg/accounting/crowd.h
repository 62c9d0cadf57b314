#pragma once

// Counts the creations that one quota grants, and computes how much to reserve for the next ones
// (a burst, see DESIGN.md). So in a crowd of creations few need a write of their own. No clock of
// its own, one thread.

#include <cstddef>

#include "pkg/accounting/reservation.h"
#include "pkg/base/clock.h"

namespace accounting {

struct CrowdOptions {
  std::size_t crowd = 16;  // creations within `window` that make a crowd; 0: no bursts
  base::Duration window = std::chrono::milliseconds(250);  // the time that a burst covers
  base::Duration shortest =
      std::chrono::milliseconds(10);  // creations are counted at least this long
  std::size_t most = 256;             // maximum of creations in a burst
  int growth = 4;  // maximum of a burst, as a multiple of the creations that arrived
  int share = 16;  // a burst takes at most 1/share of what is left below each limit
};

struct NextBurst {
  ResourceList usage;         // to reserve; empty: nothing
  std::size_t creations = 0;  // number that `usage` is for
};

class Crowd {
 public:
  explicit Crowd(CrowdOptions options) : options_(options) {}

  // Call after creations were granted, from a burst or by a write. `usage` is their sum.
  void OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations);
  // Returns a burst for the creations of the next `window`: as many as arrived in such a time.
  // Returns nothing if there is no crowd, or if half of a burst is left that can still be used.
  [[nodiscard]] NextBurst Next(base::TimePoint now, const ResourceList& hard,
                               const ResourceList& used) const;
  // Call after a burst for this number of creations was reserved.
  void OnReserved(base::TimePoint now, std::size_t creations);

 private:
  struct Granted {
    ResourceList usage;
    std::size_t creations = 0;
  };

  CrowdOptions options_;
  // Creations are counted whether or not there are bursts: in the window that began at `since_`,
  // and in the one before.
  Granted before_;
  Granted granted_;
  base::TimePoint since_{};
  base::TimePoint last_{};  // when the latest ones were granted
  // The last burst: when it was reserved, for how many, and how many were granted since.
  base::TimePoint reserved_at_{};
  std::size_t meant_ = 0;
  std::size_t drawn_ = 0;
};

}  // namespace accounting
