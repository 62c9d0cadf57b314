#pragma once

// Keys that need work, each once: the deciding part of the queue, without I/O (client-go v0.36.3,
// util/workqueue/queue.go). Coroutines use pkg/queue/async_queue.h around it.
//
// Promises: one key is never handed to two workers at once; any number of adds before the work is
// one piece of work; an add during the work is exactly one more. Every Get() is followed by Done().
// AddAfter() of a key that waits already keeps the earlier time. Add() does not end such a wait: a
// planned visit still happens.
//
// Planned visits that fall due together become ready some at a time, so no call walks over all
// keys.
//
// Bounded by the number of distinct keys. One thread; the clock and the observer outlive the queue.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "pkg/base/clock.h"
#include "pkg/queue/observer.h"
#include "pkg/queue/rate_limiter.h"

namespace queue {

struct WorkQueueOptions {
  RetryOptions retry;
  std::uint64_t seed = 0;  // of the jitter; 0: random
  std::optional<BucketOptions>
      bucket;  // over all keys; without it one mass failure delays nobody else
};

// An observer for queues without metrics.
Observer& NoObserver();
[[noreturn]] void FailDoneWithoutGet();

template <typename Key, typename Hash = std::hash<Key>>
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
    if (!processing_.contains(key)) ready_.push_back(key);
  }

  // At once if `delay` is not positive.
  void AddAfter(const Key& key, base::Duration delay) {
    if (shutting_down_) return;
    observer_.Retried();
    if (delay <= base::Duration::zero()) return Add(key);
    const base::TimePoint due = clock_.Now() + delay;
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) {
      waiting_.emplace(key, by_time_.emplace(due, key));
    } else if (due < waiting->second->first) {
      by_time_.erase(waiting->second);
      waiting->second = by_time_.emplace(due, key);
    }
  }

  // After a failure: later with every failure in a row, until Forget().
  void AddRateLimited(const Key& key) {
    if (shutting_down_) return;
    base::Duration delay = delays_.After(failures_[key]++);
    if (bucket_) delay = std::max(delay, bucket_->Reserve(clock_.Now()));
    AddAfter(key, delay);
  }

  // After a success: the key's failures are no longer counted.
  void Forget(const Key& key) { failures_.erase(key); }
  [[nodiscard]] int NumRequeues(const Key& key) const {
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

  // The next key for a worker; nullopt if none is ready now.
  std::optional<Key> Get() {
    TakeDue();
    if (ready_.empty()) return std::nullopt;
    Key key = std::move(ready_.front());
    ready_.pop_front();
    const base::TimePoint now = clock_.Now();
    const auto added = dirty_.find(key);
    observer_.Waited(now - added->second);
    dirty_.erase(added);
    observer_.Depth(dirty_.size());
    processing_.emplace(key, now);
    return key;
  }

  // REQUIRES: `key` came from Get() and is not done yet.
  void Done(const Key& key) {
    const auto working = processing_.find(key);
    if (working == processing_.end()) FailDoneWithoutGet();
    observer_.Worked(clock_.Now() - working->second);
    processing_.erase(working);
    if (dirty_.contains(key)) ready_.push_back(key);
  }

  // What is ready is still handed out; adds are ignored and planned visits dropped.
  void ShutDown() {
    shutting_down_ = true;
    by_time_.clear();
    waiting_.clear();
  }
  [[nodiscard]] bool shutting_down() const { return shutting_down_; }

  // When Get() can next return a key: now, the earliest planned visit, or TimePoint::max().
  [[nodiscard]] base::TimePoint NextReady() const {
    if (!ready_.empty()) return clock_.Now();
    return by_time_.empty() ? base::TimePoint::max() : by_time_.begin()->first;
  }

  // Keys that are ready and not being worked on.
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

  void TakeDue() {
    for (int taken = 0; taken < kMostTaken; ++taken) {
      if (by_time_.empty() || by_time_.begin()->first > clock_.Now()) return;
      const Key key = std::move(by_time_.begin()->second);
      waiting_.erase(key);
      by_time_.erase(by_time_.begin());
      Add(key);
    }
  }

  const base::Clock& clock_;
  Observer& observer_;
  RetryDelays delays_;
  std::optional<TokenBucket> bucket_;
  bool shutting_down_ = false;
  std::deque<Key> ready_;                                      // dirty and not processing
  std::unordered_map<Key, base::TimePoint, Hash> dirty_;       // needs work, since when
  std::unordered_map<Key, base::TimePoint, Hash> processing_;  // with a worker, since when
  ByTime by_time_;                                             // planned visits, earliest first
  std::unordered_map<Key, typename ByTime::iterator, Hash> waiting_;  // one entry of by_time_ a key
  std::unordered_map<Key, int, Hash> failures_;                       // in a row
};

}  // namespace queue
