#pragma once

// Decides a reflector's next step from how its last list or watch ended. Go's reflector (client-go
// v0.36.3, tools/cache/reflector.go) lists again in more cases. No I/O.
//
// The current resource version is given up only when it cannot be used any more: the server says
// that it is gone (410), that the collection is gone (404), or that the request is invalid (400,
// 405, 406, 422); the bytes cannot be read; the server repeatedly says that it has not reached this
// version; or several watches in a row got stuck inside of an event. After any other failure the
// watch resumes from the same version, because listing a large collection costs far more than
// another attempt.
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

// Wait first, then act.
struct Step {
  enum class Act { kList, kWatch };
  Act act = Act::kList;
  base::Duration wait{};
  // Why there is no progress; nullopt while there is. Not set for an expired version, because a
  // list repairs that.
  std::optional<base::Error> trouble;
};

struct WatchEnd {
  enum class Phase {
    kOpening,  // no answer, or one outside 2xx
    kReading,  // opened; ended by the connection, a timeout or unreadable bytes
    kEvent,    // opened; ended by an ERROR event
    kStuck,    // opened; an event began and was not completed
  };
  Phase phase = Phase::kReading;
  bool inside_event = false;         // a part of an event was read
  std::optional<base::Error> error;  // nullopt: the server ended the stream cleanly
  base::Duration lasted{};           // since it was opened
};

class ReflectorFsm {
 public:
  // A watch that ends sooner, without an event, counts as a failure.
  static constexpr std::chrono::seconds kShortWatch{1};
  // A watch that was open for so long was healthy. If its connection broke, or its version expired,
  // the backoff starts anew. client-go's backoff is reset after two minutes without a failure.
  static constexpr std::chrono::seconds kSteadyWatch{5};

  explicit ReflectorFsm(base::BackoffOptions backoff, std::uint64_t seed = std::random_device{}());

  Step Listed(std::string version);
  Step ListFailed(base::TimePoint now, const base::Error& error);
  // The sink has the object event or bookmark of this version.
  void Applied(std::string version, bool bookmark);
  Step WatchEnded(base::TimePoint now, WatchEnd end);
  // Gives up the current version.
  void LosePlace() { version_.clear(); }

  // The version to watch from; "" if a list is needed.
  [[nodiscard]] const std::string& version() const { return version_; }
  // True if an opened watch (status 200) is enough to report recovery. False after watches that
  // opened and ended at once or failed.
  [[nodiscard]] bool OpeningHeals() const { return opening_heals_; }
  // The same for a watch that has been open for kShortWatch. False after one that was stuck: the
  // next is trusted when it shows something.
  [[nodiscard]] bool LastingHeals() const { return stuck_ == 0; }

 private:
  Step Retry(base::TimePoint now, const base::Error& error);
  Step WatchedInVain(base::TimePoint now, const WatchEnd& end);

  base::Backoff backoff_;
  std::string version_;
  bool progressed_ = false;  // an object event advanced the version since the watch began
  bool opening_heals_ = true;
  int watches_in_vain_ = 0;  // in a row: short and without an event
  int ahead_of_server_ = 0;  // in a row: the server has not reached our version
  int stuck_ = 0;            // watches in a row that did not complete an event
};

}  // namespace informers
