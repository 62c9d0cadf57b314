#pragma once

// Runs the event loop and measures how long single pieces of work occupy it. Meanwhile nobody is
// admitted and no watch is read.

#include <boost/asio/io_context.hpp>
#include <functional>

#include "pkg/base/clock.h"

namespace manager {

// Returns when no work is left. While there is work, `on_held` gets the longest piece of work once
// a second.
void RunLoop(boost::asio::io_context& io, const std::function<void(base::Duration)>& on_held);

}  // namespace manager
