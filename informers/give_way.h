#pragma once

// Who takes in objects by the hundred lets others have the loop in between: to decode what one read
// brings takes up to a millisecond, and others (an admission request) need several turns of the
// loop each. No state; any thread.

#include <cstddef>

#include "pkg/base/scheduler.h"

namespace informers {

// To be awaited after so many bytes of objects were taken. A few cost nothing.
inline base::Task<void> GiveWay(std::size_t bytes) {
  constexpr std::size_t kMany = std::size_t{16} << 10;
  if (bytes >= kMany) co_await base::NextTurn();
}

}  // namespace informers
