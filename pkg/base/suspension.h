#pragma once

// A wait without a deadline: a coroutine stands still until somebody else resumes it. This does not
// use an Asio timer that never expires. With a timer, each turn of the event loop would call the
// kernel.
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

  // Returns after Resume(). If the waiting coroutine is cancelled, `on_stop` is called, if there is
  // one. At most one waiter.
  Task<void> Wait(std::function<void()> on_stop = nullptr);
  // The waiter, if there is one, runs on in a later turn of the event loop.
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
