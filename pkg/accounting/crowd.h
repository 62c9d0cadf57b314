#pragma once

// Counts the creations that one quota grants, and computes how much to reserve for the next ones
// (a burst, see DESIGN.md). So in a crowd of creations few need a write of their own. No clock of
// its own, one thread.

#include <cstddef>

#include "pkg/accounting/reservation.h"
#include "pkg/accounting/timing.h"
#include "pkg/base/clock.h"

namespace accounting {

struct CrowdOptions {
  // A crowd of this quota: so many creations within `window`. 0: no bursts.
  std::size_t crowd = 16;
  base::Duration window = std::chrono::milliseconds(250);  // the time that a burst covers
  // A crowd that many quotas share: so many creations in one batch. A quota that has few of them
  // gets a burst that covers `long_window`.
  std::size_t shared = 16;
  base::Duration long_window = std::chrono::seconds(2);
  base::Duration shortest =
      std::chrono::milliseconds(10);  // creations are counted at least this long
  std::size_t most = 256;             // maximum of creations in a burst
  // Maximum of a burst, as a multiple of the creations that arrived. Of a long one: 1.
  std::size_t growth = 4;
  int share = 16;  // a burst takes at most 1/share of what is left below each limit
};

struct NextBurst {
  ResourceList usage;         // to reserve; empty: nothing
  std::size_t creations = 0;  // number that `usage` is for
  base::Duration covers{};    // the time in which so many are expected
  base::Duration lasts{};     // nothing is granted from it later
};

// The creations of a window of time and of the one before.
class Arrivals {
 public:
  explicit Arrivals(base::Duration window) : window_(window) {}

  void Add(base::TimePoint now, const ResourceList& usage, std::size_t creations);
  [[nodiscard]] base::Duration window() const { return window_; }
  [[nodiscard]] std::size_t creations() const { return before_.creations + now_.creations; }
  [[nodiscard]] ResourceList usage() const;
  // The time in which they arrived.
  [[nodiscard]] base::Duration Took(base::TimePoint now) const;

 private:
  struct Granted {
    ResourceList usage;
    std::size_t creations = 0;
  };
  base::Duration window_;
  Granted before_;
  Granted now_;
  base::TimePoint since_{};  // the beginning of the present window
  base::TimePoint last_{};   // when the latest ones arrived
};

class Crowd {
 public:
  explicit Crowd(CrowdOptions options)
      : options_(options), recent_(options.window), long_(options.long_window) {}

  // Call after creations were granted, from a burst or by a write. `usage` is their sum.
  void OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations);
  // Returns a burst for the creations that are expected next: as many as arrived in such a time.
  // `batch`: the number of requests that are decided together, for all quotas. Returns nothing if
  // there is no crowd, or if half of a burst is left that can still be used.
  [[nodiscard]] NextBurst Next(base::TimePoint now, const ResourceList& hard,
                               const ResourceList& used, std::size_t batch) const;
  // Call after a burst for this number of creations in this time was reserved.
  void OnReserved(base::TimePoint now, std::size_t creations, base::Duration covers);

 private:
  struct Kind {
    base::Duration lasts;
    std::size_t least;   // creations
    std::size_t growth;  // as CrowdOptions::growth
  };
  [[nodiscard]] NextBurst Expected(base::TimePoint now, const Arrivals& arrivals, const Kind& kind,
                                   const ResourceList& hard, const ResourceList& used) const;

  CrowdOptions options_;
  // All creations, also those that were granted from bursts.
  Arrivals recent_;
  Arrivals long_;
  // The last burst: when it was reserved, for which time, for how many, and how many were granted
  // since.
  base::TimePoint reserved_at_{};
  base::Duration covers_{};
  std::size_t meant_ = 0;
  std::size_t drawn_ = 0;
};

}  // namespace accounting
