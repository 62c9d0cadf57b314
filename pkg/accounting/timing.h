#pragma once

// How the times of accounting relate. All are of one process's own clock.

#include <chrono>

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

}  // namespace accounting
