#pragma once

// A mutex for coroutines: first come, first served; waiting has a deadline.
//
// Single-threaded. REQUIRES on destruction: no coroutine is inside or waiting.

#include <list>

#include "pkg/base/scheduler.h"

namespace base {

class Gate {
 public:
  explicit Gate(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // True: the caller is inside and must call Leave(). False: the deadline passed, or the caller was
  // cancelled.
  Task<bool> Enter(TimePoint deadline);
  // Enters if the gate is free.
  [[nodiscard]] bool TryEnter();
  // Admits the first waiting coroutine.
  void Leave();
  [[nodiscard]] bool busy() const { return busy_; }

 private:
  struct Waiter {
    std::unique_ptr<Alarm> alarm;
    bool inside = false;
  };
  Scheduler& scheduler_;
  bool busy_ = false;
  std::list<Waiter> waiting_;
};

// Leaves a gate at the end of its scope. The caller must be inside.
struct LeavesGate {
  Gate& gate;
  ~LeavesGate() { gate.Leave(); }
};

}  // namespace base
