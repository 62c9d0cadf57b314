#include "pkg/base/suspension.h"

#include <glog/logging.h>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace base {

// A suspended coroutine. Destroyed with this, unless it was resumed.
class Suspension::Sleeper {
 public:
  virtual ~Sleeper() = default;
  virtual void Resume() = 0;  // once
};

template <typename Handler>
class Suspension::SleeperOf final : public Sleeper {
 public:
  explicit SleeperOf(Handler handler) : handler_(std::move(handler)) {}
  // Posted, so that the coroutine does not run inside of Resume()'s caller.
  void Resume() override { asio::post(std::move(handler_)); }

 private:
  Handler handler_;
};

Suspension::Suspension() = default;
Suspension::~Suspension() { Resume(); }

Task<void> Suspension::Wait(std::function<void()> on_stop) {
  // Asio's coroutine is returned as it is: a coroutine around it would be another frame.
  return asio::async_initiate<decltype(asio::use_awaitable), void()>(
      [this, on_stop = std::move(on_stop)](auto handler) mutable {
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (on_stop && slot.is_connected()) {
          slot.assign([on_stop = std::move(on_stop)](asio::cancellation_type) { on_stop(); });
        }
        CHECK(!sleeper_) << "two coroutines wait for one wake-up, which one of them would miss";
        sleeper_ = std::make_unique<SleeperOf<decltype(handler)>>(std::move(handler));
      },
      asio::use_awaitable);
}

void Suspension::Resume() {
  if (const std::unique_ptr<Sleeper> sleeper = std::move(sleeper_)) sleeper->Resume();
}

void Suspension::Abandon() { const std::unique_ptr<Sleeper> sleeper = std::move(sleeper_); }

}  // namespace base
