#pragma once

// Runs the event loop and measures for how long single pieces of work hold it: while one does,
// nobody is admitted and no watch is read.

#include <boost/asio/io_context.hpp>
#include <functional>

#include "pkg/base/clock.h"

namespace manager {

// Returns when nothing is left to do. Once a second, while something is done, `on_held` is told the
// longest that one piece of work took.
void RunLoop(boost::asio::io_context& io, const std::function<void(base::Duration)>& on_held);

}  // namespace manager
