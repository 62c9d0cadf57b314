#pragma once

// A mutex for coroutines, or a semaphore if it has several places. First come, first served;
// waiting has a deadline.
//
// Single-threaded. REQUIRES on destruction: no coroutine is inside or waiting.

#include <list>

#include "pkg/base/scheduler.h"

namespace base {

class Gate {
 public:
  explicit Gate(Scheduler& scheduler, std::size_t places = 1)
      : scheduler_(scheduler), places_(places) {}
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // True: the caller is inside and must call Leave(). False: the deadline passed, or the caller was
  // cancelled.
  Task<bool> Enter(TimePoint deadline);
  // Enters if a place is free.
  [[nodiscard]] bool TryEnter();
  // Admits the first waiting coroutine.
  void Leave();
  // True if no place is free.
  [[nodiscard]] bool busy() const { return inside_ == places_; }

 private:
  struct Waiter {
    std::unique_ptr<Alarm> alarm;
    bool inside = false;
  };
  Scheduler& scheduler_;
  const std::size_t places_;
  std::size_t inside_ = 0;
  std::list<Waiter> waiting_;
};

// Leaves a gate at the end of its scope. The caller must be inside.
struct LeavesGate {
  Gate& gate;
  ~LeavesGate() { gate.Leave(); }
};

}  // namespace base
