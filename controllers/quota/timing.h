#pragma once

// The times of the daemon's watches, and how they relate. Those of accounting are in
// pkg/accounting/timing.h. All are of the process's own clock.

#include <chrono>

#include "pkg/accounting/timing.h"
#include "pkg/base/backoff.h"

namespace controllers {

// Between two attempts to list or watch. What lasts for seconds is a restart of the API server.
inline constexpr base::BackoffOptions kReconnect{.initial = std::chrono::milliseconds(500),
                                                 .factor = 2,
                                                 .cap = std::chrono::seconds(4),
                                                 .jitter = 0.5,
                                                 .reset_after = std::chrono::seconds(120)};
// What happened during trouble is shown within this time of its end.
inline constexpr std::chrono::seconds kCatchesUp{3};
// Within this time after a standstill of the process watches were opened again, if they had ended,
// and have shown what was stored.
inline constexpr std::chrono::seconds kCatchesUpAfterStandstill{4};
// Within this time a new watch shows what became of quotas before it, or that it cannot.
inline constexpr std::chrono::seconds kShowsQuotas{1};
// Who has seen less than an earlier recount looks again.
inline constexpr std::chrono::milliseconds kLooksAgain{100};

static_assert(kCatchesUp < kCatchesUpAfterStandstill, "a watch is opened first");
static_assert(kLooksAgain < accounting::kTidies);

}  // namespace controllers
