#pragma once

// What a reflector does next, decided from how the last list or watch ended. Go's reflector
// (client-go v0.36.3, tools/cache/reflector.go) lists again in more cases. No I/O.
//
// A place in history (a resource version) is given up only when it is of no use any more: the
// server says it is gone (410), the collection itself is gone (404), the server refuses the request
// as such (400, 422), what came cannot be read, or the server keeps saying that it has not come
// that far. Everything else watches again from the same place, because a list of a large collection
// costs far more than an attempt.
//
// One thread.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "pkg/base/backoff.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace informers {

// First wait, then act.
struct Step {
  enum class Act { kList, kWatch };
  Act act = Act::kList;
  base::Duration wait{};
  // Set: this is not making progress, and why. Not for a lost place, which a list sets right.
  std::optional<base::Error> trouble;
};

struct WatchEnd {
  enum class Phase {
    kOpening,  // no answer, or one outside 2xx
    kReading,  // opened; ended by the connection, a timer or unreadable bytes
    kEvent,    // opened; ended by an ERROR event
  };
  Phase phase = Phase::kReading;
  std::optional<base::Error> error;  // nullopt: the server ended the stream, which it may
  base::Duration lasted{};           // since it was opened
};

class ReflectorFsm {
 public:
  // A watch that ends sooner, without an event, counts as a failure.
  static constexpr std::chrono::seconds kShortWatch{1};
  // One that lasted so long was well: if it only broke, or its place is gone, what fails next is a
  // new trouble, with short pauses. client-go waits for two minutes without any.
  static constexpr std::chrono::seconds kSteadyWatch{5};

  explicit ReflectorFsm(base::BackoffOptions backoff, std::uint64_t seed = std::random_device{}());

  Step Listed(std::string version);
  Step ListFailed(base::TimePoint now, const base::Error& error);
  // An object event or bookmark with this version is with the sink.
  void Applied(std::string version, bool bookmark);
  Step WatchEnded(base::TimePoint now, WatchEnd end);
  // The version is of no use any more.
  void LosePlace() { version_.clear(); }

  // Where to watch from; "" before the first list and when a list is needed.
  [[nodiscard]] const std::string& version() const { return version_; }
  // Whether an answer of 200 to a watch is enough to call the trouble over. Not if watches were
  // opened before and came to nothing.
  [[nodiscard]] bool OpeningHeals() const { return opening_heals_; }

 private:
  Step Retry(base::TimePoint now, const base::Error& error);
  Step WatchedInVain(base::TimePoint now, const WatchEnd& end);

  base::Backoff backoff_;
  std::string version_;
  bool progressed_ = false;  // an object event moved the version since the watch began
  bool opening_heals_ = true;
  int watches_in_vain_ = 0;  // in a row: short and without an event
  int ahead_of_server_ = 0;  // in a row: the server has not reached our version
};

}  // namespace informers
