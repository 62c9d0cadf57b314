#pragma once

// The times of accounting and of its watches, and their relations. All are measured by the clock of
// one process.

#include <chrono>

#include "pkg/base/backoff.h"

namespace accounting {

// The maximum time from a request to its answer. So an entry is at most this old when its request
// is answered.
inline constexpr std::chrono::milliseconds kLongestAnswer{5'000};
// For this time, a written entry also answers repeated calls for the same object and version. Later
// calls write another entry. A burst answers as long as it lasts.
inline constexpr std::chrono::milliseconds kAnswersRepeats{500};
// For this time creations are granted from a burst without a write. A long burst is that of a quota
// that gets few of the creations of a crowd.
inline constexpr std::chrono::milliseconds kBurstLasts{500};
inline constexpr std::chrono::milliseconds kLongBurstLasts{2'500};
// etcd answers a proposal at most this late: 5 s for its queue, the computation and the disk, and
// two elections of 1 s each (etcd server v3.6.8, server/config/config.go, ServerConfig.ReqTimeout
// with the default of --election-timeout).
inline constexpr std::chrono::milliseconds kEtcdAnswers{5'000 + 2 * 1'000};
// Between the last webhook's answer and the store: that, and a second for the API server's own
// work.
inline constexpr std::chrono::milliseconds kStores = kEtcdAnswers + std::chrono::seconds(1);
// The speed of two clocks differs by at most a tenth.
inline constexpr int kClockPercent = 10;
// An entry that is over is removed after this time, even if nothing else must be written.
inline constexpr std::chrono::milliseconds kTidies{2'000};
// The API server is asked again after this time if its list did not settle the question.
inline constexpr std::chrono::milliseconds kAsksAgain{2'000};
// The delay before a recount contradicts an external writer that lowered `used`: its watch may be
// ahead of ours.
inline constexpr std::chrono::milliseconds kContradicts{250};

// Returns how long the request of an entry may still be stored after the entry was first seen.
// `others` is the longest timeout of the API server's other webhooks, which are called at the same
// time as ours.
constexpr std::chrono::milliseconds HoldFor(std::chrono::milliseconds others) {
  const auto answered = others > kLongestAnswer ? others : kLongestAnswer;
  const auto stored = answered + kAnswersRepeats + kStores;
  return stored + stored * kClockPercent / 100;
}

// The maximum of timeoutSeconds in a webhook configuration.
inline constexpr std::chrono::milliseconds kLongestWebhook{30'000};

// Returns Reservation::webhook for an unassigned entry of a process that knows `others`, so that
// every reader holds the entry for HoldFor(others) after the last grant from it. A long burst may
// be granted from for longer than HoldFor() allows.
constexpr std::chrono::seconds WebhookOfBurst(std::chrono::seconds others, base::Duration lasts) {
  if (lasts <= kBurstLasts) return others;
  const auto own = std::chrono::ceil<std::chrono::seconds>(kLongestAnswer);
  return (others > own ? others : own) + std::chrono::ceil<std::chrono::seconds>(lasts);
}
// A list that a later version wrote in a later format is left alone until it has stayed the same
// for this time. Then no request that it may have an entry for can still be stored.
inline constexpr std::chrono::milliseconds kLaterFormat = HoldFor(kLongestWebhook);
// The timeout that is assumed until the webhook configurations are listed: the API server's
// default.
inline constexpr std::chrono::milliseconds kWebhooksUnknown{10'000};

static_assert(kAnswersRepeats < kLongestAnswer);
static_assert(kBurstLasts <= kAnswersRepeats, "HoldFor() covers what is granted from a burst");
static_assert(kStores > kEtcdAnswers);
// What the documents say: 5 + 0.5 + 8 s and a tenth of it, 10 + 0.5 + 8 s, and 30 + 0.5 + 8 s.
static_assert(HoldFor({}) == std::chrono::milliseconds(14'850));
static_assert(HoldFor(kWebhooksUnknown) == std::chrono::milliseconds(20'350));
static_assert(HoldFor(kLongestWebhook) == std::chrono::milliseconds(42'350));
static_assert(kTidies < HoldFor({}), "what is over goes before it would be asked about");
static_assert(kContradicts < kTidies);

// Between two attempts to list or watch. Failures that last for seconds are usually a restart of
// the API server.
inline constexpr base::BackoffOptions kReconnect{.initial = std::chrono::milliseconds(500),
                                                 .factor = 2,
                                                 .cap = std::chrono::seconds(4),
                                                 .jitter = 0.5,
                                                 .reset_after = std::chrono::seconds(120)};
// Within this time after the end of a watch failure, the watch has shown what was missed.
inline constexpr std::chrono::seconds kCatchesUp{3};
// A list that ends a burst is shown within this time after the burst was reserved.
inline constexpr std::chrono::milliseconds kEndsBurst =
    kCatchesUp + kLongBurstLasts + kLongBurstLasts * kClockPercent / 100;
// Within this time after the process was suspended, watches that had ended were opened again and
// have shown what was missed.
inline constexpr std::chrono::seconds kCatchesUpAfterStandstill{4};
// A watch that is known to miss an object counts as behind for at most this time.
inline constexpr std::chrono::seconds kAwaitsShown{10};
// Within this time a new watch of quotas or namespaces has shown earlier changes, or has reported
// that it cannot. The watch cache of the API server may lag for seconds.
inline constexpr std::chrono::seconds kShowsGap{4};
// A quota that loses a namespace does not lower `used` for this time. The watch of namespaces and
// that of quotas may show two changes in another order than they were made.
inline constexpr std::chrono::seconds kLosesNamespace{1};
// A recount that finds its view behind the floor is tried again after this time.
inline constexpr std::chrono::milliseconds kLooksAgain{100};

static_assert(kCatchesUp < kCatchesUpAfterStandstill, "a watch is opened first");
static_assert(kCatchesUp < kAwaitsShown, "a watch is opened first");
static_assert(kLooksAgain < kTidies);

}  // namespace accounting
