#pragma once

// Knows which names a ledger lacks. Facts leave out names that no quota limits, beyond a bound
// (pkg/quota/limited_names.h). If a quota limits such a name later, usage under it is unknown until
// all objects were read again. No other name is concerned.
//
// No I/O; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/quota/limited_names.h"

namespace controllers {

class UnreadNames {
 public:
  // The facts of a held object lack something.
  void OnLeftOut(quota::LimitedNames::LeftOut left_out);
  // A quota limits the name from now on, and facts that are made from now on have it.
  void OnLimited(std::string_view name, base::TimePoint now);
  void OnUnlimited(std::string_view name);
  // Classes changed, so references to them that were left out may matter for this limited name.
  void OnClasses(std::string_view name, base::TimePoint now);

  // All objects are read from now on. A reading that does not end counts for nothing.
  void OnReadingBegins() { begun_ = last_; }
  // Every held object was read since. Returns true if names became known.
  bool OnReadingEnds();

  [[nodiscard]] bool empty() const { return unread_.empty(); }
  // Since when the name is unknown; nullopt: it is known.
  [[nodiscard]] std::optional<base::TimePoint> Since(std::string_view name) const;

 private:
  struct Unread {
    std::uint64_t number = 0;
    base::TimePoint since{};
  };
  void Add(std::string_view name, base::TimePoint now);

  quota::LimitedNames::LeftOut left_out_;
  std::map<std::string, Unread, std::less<>> unread_;
  std::uint64_t last_ = 0;   // the number of the last unread name
  std::uint64_t begun_ = 0;  // the last number when the reading began
};

}  // namespace controllers
