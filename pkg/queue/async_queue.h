#pragma once

// The work queue for coroutines: producers add keys, any number of workers pop them.
//
//   while (std::optional<Key> key = co_await queue.Pop()) {  // nullopt: shut down or cancelled
//     ...                                                    // Forget() or AddRateLimited()
//     queue.Done(*key);
//   }
//
// Single-threaded. The scheduler must outlive the queue, and the queue its workers.

#include <iterator>
#include <list>
#include <memory>
#include <optional>

#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/queue/work_queue.h"

namespace queue {

template <typename Key>
class AsyncQueue {
 public:
  explicit AsyncQueue(base::Scheduler& scheduler, WorkQueueOptions options = {},
                      Observer& observer = NoObserver())
      : scheduler_(scheduler), queue_(scheduler, options, observer) {}

  ~AsyncQueue() { Require(idle_.empty(), "the queue outlives its workers"); }
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  // Waits for the next key. nullopt once the queue is shut down and drained, or the caller is
  // cancelled.
  base::Task<std::optional<Key>> Pop() {
    const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
    for (;;) {
      const bool stopping = co_await base::Stopping();
      if (stopping) {
        PassOn();  // this worker may have consumed another's wake-up
        co_return std::nullopt;
      }
      if (std::optional<Key> key = queue_.Get()) {
        PassOn();
        co_return key;
      }
      if (queue_.shutting_down()) co_return std::nullopt;
      const Idle idle(*this, alarm.get());
      co_await alarm->WaitUntil(idle.until());
    }
  }

  void Add(const Key& key) {
    queue_.Add(key);
    WakeOne();
  }
  void AddAfter(const Key& key, base::Duration delay) {
    queue_.AddAfter(key, delay);
    PassOn();
  }
  void AddRateLimited(const Key& key) {
    queue_.AddRateLimited(key);
    PassOn();
  }
  void Done(const Key& key) {
    queue_.Done(key);
    WakeOne();
  }
  void ShutDown() {
    queue_.ShutDown();
    WakeAll();
  }
  void Forget(const Key& key) { queue_.Forget(key); }
  [[nodiscard]] int NumRequeues(const Key& key) const { return queue_.NumRequeues(key); }
  [[nodiscard]] std::size_t Len() const { return queue_.Len(); }
  [[nodiscard]] std::size_t processing() const { return queue_.processing(); }
  [[nodiscard]] RunningWork Running() const { return queue_.Running(); }

 private:
  // A worker is in the list while it waits. The first in the list is woken first. One of them, the
  // keeper, waits until the earliest planned visit. The others wait until they are woken.
  class Idle {
   public:
    Idle(AsyncQueue& queue, base::Alarm* alarm)
        : queue_(queue), place_(queue.idle_.insert(queue.idle_.end(), alarm)) {
      if (queue_.keeper_ != nullptr) return;
      queue_.keeper_ = alarm;
      queue_.kept_until_ = until_ = queue_.queue_.NextReady();
    }
    ~Idle() {
      if (queue_.keeper_ == *place_) queue_.keeper_ = nullptr;
      queue_.idle_.erase(place_);
    }
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;
    [[nodiscard]] base::TimePoint until() const { return until_; }

   private:
    AsyncQueue& queue_;
    std::list<base::Alarm*>::iterator place_;
    base::TimePoint until_ = base::TimePoint::max();
  };

  void WakeOne() {
    if (queue_.Len() > 0) WakeFirst();
  }
  void WakeFirst() {
    if (idle_.empty()) return;
    const bool keeps = idle_.front() == keeper_ && idle_.size() > 1;
    // Move it to the end, so that a key that is added before this worker runs wakes another worker.
    idle_.splice(idle_.end(), idle_, keeps ? std::next(idle_.begin()) : idle_.begin());
    idle_.back()->Wake();
  }
  // Wakes a worker if a key is ready. Otherwise ensures that a keeper waits for the earliest
  // planned visit.
  void PassOn() {
    if (queue_.Len() > 0) return WakeFirst();
    const base::TimePoint next = queue_.NextReady();
    if (keeper_ != nullptr && next < kept_until_) keeper_->Wake();
    if (keeper_ == nullptr && next != base::TimePoint::max()) WakeFirst();
  }
  void WakeAll() {
    for (base::Alarm* alarm : idle_) alarm->Wake();
  }

  base::Scheduler& scheduler_;
  WorkQueue<Key> queue_;
  std::list<base::Alarm*> idle_;
  base::Alarm* keeper_ = nullptr;  // one of idle_
  base::TimePoint kept_until_{};
};

}  // namespace queue
