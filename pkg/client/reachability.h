#pragma once

// Decides, from how the requests to an API server end, whether it still answers and still knows our
// credentials. Requests must go on being sent meanwhile: time in which nothing is asked proves
// nothing.
//
// Any HTTP status is an answer, except 401: an API server that does not know us does nothing for
// us. No I/O, one thread; the clock must outlive it.

#include <optional>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace client {

class Reachability {
 public:
  // Trouble that passes sooner is none: another API server takes over, or this one restarts.
  static constexpr std::chrono::seconds kPatience{60};
  // Refusals with a longer time between them are not one trouble: an API server that stops or
  // starts may refuse everybody for a moment, and be away in between.
  static constexpr std::chrono::seconds kLongestGap{30};

  struct Trouble {
    base::WallTime since{};
    base::Error last{};
  };

  explicit Reachability(const base::Clock& clock) : clock_(clock) {}

  // A request was answered.
  void OnAnswer();
  // A request was refused, got no answer, or had no credential to be sent with. A cancelled one
  // tells nothing.
  void OnError(const base::Error& error);
  // A part of a body has arrived. The server is there, but credentials are not checked while it
  // sends: a watch outlives the token that opened it.
  void OnBytes() { unanswered_.reset(); }

  // Set if requests have failed for kPatience and none was answered.
  [[nodiscard]] std::optional<Trouble> Unanswered() const { return Lasting(unanswered_); }
  // Set if all answers of kPatience were 401. Requests without any answer may be among them.
  [[nodiscard]] std::optional<Trouble> Refused() const { return Lasting(refused_); }
  // When a request was last answered; before that, when this was made.
  [[nodiscard]] base::TimePoint last_answer() const { return last_answer_; }

 private:
  struct Spell {
    base::TimePoint began{};
    base::TimePoint latest{};
    Trouble trouble{};
  };
  // A request has just failed.
  void Extend(std::optional<Spell>& spell, const base::Error& error);
  static std::optional<Trouble> Lasting(const std::optional<Spell>& spell);

  const base::Clock& clock_;
  base::TimePoint last_answer_ = clock_.Now();
  std::optional<Spell> unanswered_;
  std::optional<Spell> refused_;
};

}  // namespace client
