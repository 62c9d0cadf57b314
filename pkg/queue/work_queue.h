#pragma once

// Keys that need work, each at most once. This is the deciding part of the queue, without I/O
// (client-go v0.36.3, util/workqueue/queue.go). Coroutines use pkg/queue/async_queue.h around it.
//
// Guarantees:
// - Two workers never have the same key at once.
// - Any number of adds before a Get() cause one piece of work; any number of adds during the work
//   cause exactly one more.
// - AddAfter() of a key that already waits keeps the earlier time. Add() does not end such a wait:
//   the planned visit still happens.
// - Planned visits that are due at the same time become ready some at a time, so no call walks over
//   all keys.
//
// Every Get() must be followed by Done(). Bounded by the number of distinct keys. One thread; the
// clock and the observer must outlive the queue.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "pkg/base/clock.h"
#include "pkg/base/token_bucket.h"
#include "pkg/queue/observer.h"
#include "pkg/queue/rate_limiter.h"

namespace queue {

struct WorkQueueOptions {
  RetryOptions retry;
  std::uint64_t seed = 0;  // for the jitter; 0: random
  std::optional<base::BucketOptions>
      bucket;  // over all keys; without it one mass failure delays nobody else
};

// The observer of queues without metrics.
Observer& NoObserver();
// Ends the process: the queue is not as this says.
[[noreturn]] void FailBroken(const char* invariant);
inline void Require(bool holds, const char* invariant) {
  if (!holds) FailBroken(invariant);
}

template <typename Key>
class WorkQueue {
 public:
  explicit WorkQueue(const base::Clock& clock, WorkQueueOptions options = {},
                     Observer& observer = NoObserver())
      : clock_(clock),
        observer_(observer),
        delays_(options.retry, options.seed != 0 ? options.seed : std::random_device{}()) {
    if (options.bucket) bucket_.emplace(*options.bucket);
  }

  void Add(const Key& key) {
    if (shutting_down_ || !dirty_.try_emplace(key, clock_.Now()).second) return;
    observer_.Added();
    observer_.Depth(dirty_.size());
    // A key that a worker has becomes ready in Done().
    if (!processing_.contains(key)) PushReady(key);
  }

  // Adds at once if `delay` is not positive.
  void AddAfter(const Key& key, base::Duration delay) {
    if (shutting_down_) return;
    observer_.Retried();
    if (delay <= base::Duration::zero()) return Add(key);
    const base::TimePoint due = clock_.Now() + delay;
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) {
      waiting_.emplace(key, by_time_.emplace(due, key));
      Require(waiting_.size() == by_time_.size(), "each planned visit has one key");
    } else if (due < waiting->second->first) {
      by_time_.erase(waiting->second);
      waiting->second = by_time_.emplace(due, key);
    }
  }

  // Call after a failure: the delay grows with every failure in a row, until Forget().
  void AddRateLimited(const Key& key) {
    if (shutting_down_) return;
    base::Duration delay = delays_.After(failures_[key]++);
    if (bucket_) delay = std::max(delay, bucket_->Reserve(clock_.Now()));
    AddAfter(key, delay);
  }

  // Call after a success: resets the key's failure count.
  void Forget(const Key& key) { failures_.erase(key); }
  [[nodiscard]] int NumRequeues(const Key& key) const {
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

  // Returns the next key for a worker; nullopt if none is ready now.
  std::optional<Key> Get() {
    TakeDue();
    if (ready_.empty()) return std::nullopt;
    Key key = std::move(ready_.front());
    ready_.pop_front();
    const base::TimePoint now = clock_.Now();
    const auto added = dirty_.find(key);
    Require(added != dirty_.end(), "a ready key needs work");
    observer_.Waited(now - added->second);
    dirty_.erase(added);
    observer_.Depth(dirty_.size());
    Require(processing_.emplace(key, now).second, "one worker has a key");
    return key;
  }

  // REQUIRES: `key` came from Get(), and Done() was not called for it.
  void Done(const Key& key) {
    const auto working = processing_.find(key);
    Require(working != processing_.end(), "Done() follows Get()");
    observer_.Worked(clock_.Now() - working->second);
    processing_.erase(working);
    if (dirty_.contains(key)) PushReady(key);
  }

  // Ready keys can still be taken. Further adds are ignored, and planned visits are dropped.
  void ShutDown() {
    shutting_down_ = true;
    by_time_.clear();
    waiting_.clear();
  }
  [[nodiscard]] bool shutting_down() const { return shutting_down_; }

  // When Get() can next return a key: now, at the earliest planned visit, or TimePoint::max().
  [[nodiscard]] base::TimePoint NextReady() const {
    if (!ready_.empty()) return clock_.Now();
    return by_time_.empty() ? base::TimePoint::max() : by_time_.begin()->first;
  }

  // Number of keys that are ready and not being worked on.
  [[nodiscard]] std::size_t Len() const { return ready_.size(); }
  [[nodiscard]] std::size_t processing() const { return processing_.size(); }

  [[nodiscard]] RunningWork Running() const {
    RunningWork running;
    for (const auto& [key, since] : processing_) {
      const base::Duration age = clock_.Now() - since;
      running.total += age;
      running.longest = std::max(running.longest, age);
    }
    return running;
  }

 private:
  using ByTime = std::multimap<base::TimePoint, Key>;
  static constexpr int kMostTaken = 16;  // by one Get(), which hands out one

  void PushReady(const Key& key) {
    ready_.push_back(key);
    Require(ready_.size() <= dirty_.size(), "a key is ready once");
  }

  void TakeDue() {
    for (int taken = 0; taken < kMostTaken; ++taken) {
      if (by_time_.empty() || by_time_.begin()->first > clock_.Now()) return;
      const Key key = std::move(by_time_.begin()->second);
      Require(waiting_.erase(key) == 1, "a visit that is due was planned");
      by_time_.erase(by_time_.begin());
      Add(key);
    }
  }

  const base::Clock& clock_;
  Observer& observer_;
  RetryDelays delays_;
  std::optional<base::TokenBucket> bucket_;
  bool shutting_down_ = false;
  std::deque<Key> ready_;  // dirty and not processing
  // Ordered tables: a hash table that grows by very many keys would hold the event loop too long.
  std::map<Key, base::TimePoint> dirty_;              // needs work, since when
  std::map<Key, base::TimePoint> processing_;         // with a worker, since when
  ByTime by_time_;                                    // planned visits, earliest first
  std::map<Key, typename ByTime::iterator> waiting_;  // one entry of by_time_ a key
  std::map<Key, int> failures_;                       // in a row
};

}  // namespace queue
