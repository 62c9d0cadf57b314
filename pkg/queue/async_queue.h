#pragma once

// The work queue for coroutines: producers add keys, any number of workers pop them.
//
//   while (std::optional<Key> key = co_await queue.Pop()) {  // nullopt: shut down or cancelled
//     ...                                                    // Forget() or AddRateLimited()
//     queue.Done(*key);
//   }
//
// Single-threaded. The scheduler must outlive the queue, and the queue its workers.

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

  // Waits for the next key. nullopt once the queue is shut down and drained, or the caller is
  // cancelled.
  base::Task<std::optional<Key>> Pop() {
    const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
    for (;;) {
      const bool stopping = co_await base::Stopping();
      if (stopping) {
        WakeOne();  // this worker may have consumed another's wake-up: pass it on
        co_return std::nullopt;
      }
      if (std::optional<Key> key = queue_.Get()) {
        // More keys may be ready: each worker wakes the next one.
        WakeOne();
        co_return key;
      }
      if (queue_.shutting_down()) co_return std::nullopt;
      const Idle idle(idle_, alarm.get());
      co_await alarm->WaitUntil(queue_.NextReady());
    }
  }

  void Add(const Key& key) {
    queue_.Add(key);
    WakeOne();
  }
  void AddAfter(const Key& key, base::Duration delay) {
    queue_.AddAfter(key, delay);
    WakeAll();  // idle workers wait for the earliest planned visit, which may be earlier now
  }
  void AddRateLimited(const Key& key) {
    queue_.AddRateLimited(key);
    WakeAll();
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
  // A worker is in the list exactly while it waits. The first in the list is woken first.
  class Idle {
   public:
    Idle(std::list<base::Alarm*>& idle, base::Alarm* alarm)
        : idle_(idle), place_(idle.insert(idle.end(), alarm)) {}
    ~Idle() { idle_.erase(place_); }
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;

   private:
    std::list<base::Alarm*>& idle_;
    std::list<base::Alarm*>::iterator place_;
  };

  void WakeOne() {
    if (queue_.Len() == 0 || idle_.empty()) return;
    // Move it to the end: a key that is added before this worker runs wakes another one.
    idle_.splice(idle_.end(), idle_, idle_.begin());
    idle_.back()->Wake();
  }
  void WakeAll() {
    for (base::Alarm* alarm : idle_) alarm->Wake();
  }

  base::Scheduler& scheduler_;
  WorkQueue<Key> queue_;
  std::list<base::Alarm*> idle_;
};

}  // namespace queue
