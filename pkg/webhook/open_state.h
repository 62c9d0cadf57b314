#pragma once

// Whether all requests shall pass, and why: an admin said so with kBreakGlassAnnotation, perhaps
// for a while, or the leader enforces nothing (kCountingAnnotation).
//
// No I/O, one thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace webhook {

class OpenState {
 public:
  // Sets the identity that holds the lease; "" if it is unknown.
  void SetLeader(std::string_view identity) { leader_ = identity; }
  // Takes the stored object, and the time. Null: there is no object. The state then stays until its
  // duration is over, because what an admin deletes in this state is not restored.
  void Update(base::TimePoint now, const json::Value* live);

  [[nodiscard]] bool IsOpen() const { return broken_ || !counting_.empty(); }
  // REQUIRES: IsOpen().
  [[nodiscard]] std::string Why() const;
  // When the duration is over; nullopt: it is not running.
  [[nodiscard]] std::optional<base::TimePoint> EndsAt() const {
    return broken_ ? until_ : std::nullopt;
  }
  // True if the glass is not broken, but kBreakGlassForAnnotation is still there. Both annotations
  // must be removed then: a daemon that sees them later would let everything pass again, and a
  // duration that is left would end the next opening.
  [[nodiscard]] bool IsOver() const { return !broken_ && !lasts_.empty(); }

 private:
  void ReadGlass(base::TimePoint now, const json::Value& live);

  std::string leader_;
  std::string counting_;  // the leader that enforces nothing; "": it enforces
  // What kBreakGlassAnnotation and kBreakGlassForAnnotation say.
  bool asked_ = false;
  std::string lasts_;                     // "": there is no such annotation
  std::optional<base::TimePoint> until_;  // nullopt: it says no duration
  bool broken_ = false;
};

}  // namespace webhook
