#pragma once

// The assembled daemon: client, controllers, metrics and health endpoints, signals.
//
// Start() spawns everything on the io_context, whose run() returns when a signal or the loss of the
// lease has ended the daemon and no task is left. Single-threaded.

#include <boost/asio/io_context.hpp>
#include <memory>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace manager {

class Manager {
 public:
  virtual ~Manager() = default;
  virtual void Start() = 0;
  // Reports the longest time in the last second that one piece of work occupied the event loop.
  virtual void OnLoopHeld(base::Duration longest) = 0;
  // True once no task is left.
  [[nodiscard]] virtual bool ended() const = 0;
  // The process's exit code, once no task is left: 0 after a signal, 1 if the lease was lost.
  [[nodiscard]] virtual int exit_code() const = 0;
};

// Errors: kInvalidArgument for a configuration that can never work; kUnavailable if an address to
// listen at is in use.
base::Result<std::unique_ptr<Manager>> NewManager(boost::asio::io_context& io, Options options);

}  // namespace manager
