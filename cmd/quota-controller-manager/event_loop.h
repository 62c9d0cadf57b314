#pragma once

// Runs the event loop and measures how long single pieces of work occupy it. Meanwhile nobody is
// admitted and no watch is read.

#include <boost/asio/io_context.hpp>
#include <functional>

#include "pkg/base/clock.h"

namespace manager {

// Returns when no work is left, or when `ended` says that nobody waits for the rest: a look-up of a
// host name cannot be interrupted. Then io.stopped() is false. Once a second `on_held` gets the
// longest piece of work.
void RunLoop(boost::asio::io_context& io, const std::function<void(base::Duration)>& on_held,
             const std::function<bool()>& ended);

}  // namespace manager
