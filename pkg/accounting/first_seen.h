#pragma once

// Remembers when this process first saw each entry of one quota. No clock of its own, one thread.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

class FirstSeen {
 public:
  // Call with the current list. Forgets entries that are not in it.
  void See(base::TimePoint now, const ReservationList& list);
  [[nodiscard]] std::optional<base::TimePoint> Of(const Reservation& entry) const;
  // Returns the earliest time; nullopt without entries.
  [[nodiscard]] std::optional<base::TimePoint> Oldest() const;

 private:
  using Name = std::pair<std::string, std::uint64_t>;
  std::map<Name, base::TimePoint> seen_;
};

}  // namespace accounting
