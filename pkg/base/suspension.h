#pragma once

// A wait without a deadline: a coroutine waits until another one resumes it. An Asio timer that
// never expires would do the same, but each turn of the event loop would then call the kernel.
//
// Single-threaded.

#include <functional>
#include <memory>

#include "pkg/base/asio.h"

namespace base {

class Suspension {
 public:
  Suspension();
  ~Suspension();
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  // Returns after Resume(). If the waiting coroutine is cancelled, `on_stop` is called (may be
  // null). At most one waiter.
  Task<void> Wait(std::function<void()> on_stop = nullptr);
  // Resumes the waiter, if there is one, in a later turn of the event loop.
  void Resume();
  // Destroys the waiter, which may own this, in a later turn or with the event loop.
  void Abandon();
  [[nodiscard]] bool waiting() const { return sleeper_ != nullptr; }

 private:
  class Sleeper;
  template <typename Handler>
  class SleeperOf;
  std::unique_ptr<Sleeper> sleeper_;
};

}  // namespace base
