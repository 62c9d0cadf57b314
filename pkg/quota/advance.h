#pragma once

// Usage that this replica charged to one quota before it was asked for, so that in a crowd of
// creations few need a write of their own (pkg/admission/DESIGN.md, "In advance").
//
// To other replicas it is a charge like any other, of which the object is yet to come: they hold it
// for as long as they hold each. So what is granted from it is as old as the write that charged it,
// and nothing is granted once that is `usable` ago: a call may wait 5 s for its answer, and what it
// admits is to be stored and seen within the 10 s of a charge. What is left is given back when it
// lies idle or gets too old, when somebody else lowers `used`, and with the next write of
// admission.
//
// No I/O, one thread.

#include <cstddef>
#include <deque>
#include <optional>

#include "pkg/base/clock.h"
#include "pkg/quota/resource_list.h"

namespace quota {

struct AdvanceOptions {
  std::size_t crowd = 16;  // creations within `window`; 0: nothing is charged in advance
  base::Duration window = std::chrono::milliseconds(250);   // an advance is to last for so long
  base::Duration shortest = std::chrono::milliseconds(10);  // what comes within it is one burst
  std::size_t most = 256;  // creations, that one advance is meant for
  int growth = 4;          // and no more than so many times those that came
  int share = 16;          // of what is left below a limit, one part of so many
  base::Duration idle = std::chrono::milliseconds(500);
  base::Duration usable = std::chrono::seconds(2);
};

// What to charge in advance.
struct NextAdvance {
  ResourceList usage;         // empty: nothing
  std::size_t creations = 0;  // that it is meant for
};

class Advance {
 public:
  Advance() = default;
  explicit Advance(AdvanceOptions options) : options_(options) {}

  // What can still be granted; empty: nothing.
  [[nodiscard]] ResourceList Usable(base::TimePoint now) const;
  // What is charged and not granted, usable or not.
  [[nodiscard]] ResourceList Left() const;
  // When the oldest of what is usable was charged; `now` where nothing is.
  [[nodiscard]] base::TimePoint UsableSince(base::TimePoint now) const;
  // Takes that much of what is usable, which has it, the oldest first.
  void Draw(base::TimePoint now, const ResourceList& usage);

  // So many creations were granted that much, from the advance or otherwise.
  void OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations);
  // True if a crowd is there, and what it has will not last.
  [[nodiscard]] bool WantsMore(base::TimePoint now) const;
  // What to charge: for as many as come within `window`, and no more than a share of what `hard`
  // leaves above `used`.
  [[nodiscard]] NextAdvance Next(base::TimePoint now, const ResourceList& hard,
                                 const ResourceList& used) const;
  // That was charged, by a write that was sent at `sent`. Nothing of it can be granted if somebody
  // has lowered `used` since.
  void Put(base::TimePoint now, base::TimePoint sent, NextAdvance next);

  void Drop() { parts_.clear(); }
  // Somebody else lowered `used`: what was charged before may not be in it any more.
  void OnLoweredByOthers(base::TimePoint now) {
    Drop();
    lowered_ = now;
  }
  // Drops what lies idle, and what is too old.
  void DropIdle(base::TimePoint now);
  // When to call DropIdle() again; nullopt: nothing is left.
  [[nodiscard]] std::optional<base::TimePoint> NextCheck() const;

 private:
  struct Part {
    base::TimePoint charged;
    ResourceList left;
  };
  [[nodiscard]] bool IsUsable(const Part& part, base::TimePoint now) const {
    return now - part.charged <= options_.usable;
  }

  AdvanceOptions options_;
  // Oldest first. One is added when more than half of the last was granted, and all end by age.
  std::deque<Part> parts_;
  base::TimePoint drawn_{};                           // the last time
  base::TimePoint lowered_ = base::TimePoint::min();  // by others, the last time
  std::size_t meant_ = 0;                             // creations, that the newest part is for
  // What was granted since the newest part was charged, or the crowd began.
  ResourceList granted_;
  std::size_t creations_ = 0;
  base::TimePoint since_{};
};

// True if `list` has at least `part` of each of its names.
bool Contains(const ResourceList& list, const ResourceList& part);

}  // namespace quota
