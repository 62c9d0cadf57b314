#pragma once

// The times of accounting and of the watches it rests on, and how they relate. All are of one
// process's own clock.

#include <chrono>

#include "pkg/base/backoff.h"

namespace accounting {

// A request waits no longer for its answer: an entry is older by that, at most, when the request it
// stands for is answered.
inline constexpr std::chrono::milliseconds kLongestAnswer{5'000};
// So long a written entry answers repeated calls for the same object from the same version; later
// ones write another.
inline constexpr std::chrono::milliseconds kAnswersRepeats{500};
// From the last webhook's answer to the store: the API server's own work.
inline constexpr std::chrono::milliseconds kStores{3'500};
// Clocks differ by a tenth at most.
inline constexpr int kClockPercent = 10;
// An entry that is over, where nothing else is to be written, is taken out after this.
inline constexpr std::chrono::milliseconds kTidies{2'000};
// A stranger's rise of `used` is held for so long without its object being shown.
inline constexpr std::chrono::milliseconds kStrangersHold{10'000};
// What the server still has, or cannot say, is asked about again after this.
inline constexpr std::chrono::milliseconds kAsksAgain{2'000};
// Somebody lowered `used`: perhaps their watch is ahead of ours, so ours gets this long.
inline constexpr std::chrono::milliseconds kContradicts{250};

// How long after it was first seen an entry may still be stored, where the other webhooks of the
// server may take up to `others`. They are asked at the same time as we are.
constexpr std::chrono::milliseconds HoldFor(std::chrono::milliseconds others) {
  const auto answered = others > kLongestAnswer ? others : kLongestAnswer;
  const auto stored = answered + kAnswersRepeats + kStores;
  return stored + stored * kClockPercent / 100;
}

inline constexpr std::chrono::milliseconds kLongestWebhook{30'000};  // of the API server
inline constexpr std::chrono::milliseconds kWebhooksUnknown{10'000};

static_assert(kAnswersRepeats < kLongestAnswer);
static_assert(HoldFor({}) > kLongestAnswer + kAnswersRepeats);
static_assert(HoldFor(kLongestWebhook) > kLongestWebhook + kStores);
static_assert(HoldFor(kWebhooksUnknown) >= kStrangersHold);
static_assert(kTidies < HoldFor({}), "what is over goes before it would be asked about");
static_assert(kContradicts < kTidies);

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
static_assert(kLooksAgain < kTidies);

}  // namespace accounting
