#pragma once

// The daemon put together: client, controllers, metrics and health endpoints, signals.
//
// Start() spawns everything on the io_context; run() of it returns when a signal, or the loss of
// the leader's lease, has ended the daemon and nothing is left. Single-threaded.

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
  // For how long one piece of work held the loop at most, in the second that ended now.
  virtual void OnLoopHeld(base::Duration longest) = 0;
  // Of the process, once nothing is left: 0 after a signal, 1 when the lease was lost.
  [[nodiscard]] virtual int exit_code() const = 0;
};

// Errors: kInvalidArgument for a configuration that can never work; kUnavailable when an address to
// serve at is in use.
base::Result<std::unique_ptr<Manager>> NewManager(boost::asio::io_context& io, Options options);

}  // namespace manager
