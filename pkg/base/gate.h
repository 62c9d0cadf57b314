#pragma once

// One at a time: a mutex for coroutines, first come first served, whose wait has a deadline.
//
// Single-threaded. Nobody may be inside or waiting when it is destroyed.

#include <list>

#include "pkg/base/scheduler.h"

namespace base {

class Gate {
 public:
  explicit Gate(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // True: the caller is inside, and must Leave(). False: the deadline passed, or it was cancelled.
  Task<bool> Enter(TimePoint deadline);
  // Enters if nobody is inside.
  [[nodiscard]] bool TryEnter();
  // Lets the first that waits in.
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

}  // namespace base
