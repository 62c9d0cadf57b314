#pragma once

// Internal to pkg/http. Resolves host names within a deadline.

#include <string>
#include <vector>

#include "pkg/http/socket.h"

namespace http {

// Returns at least one endpoint, in the resolver's order. An IP address resolves to itself without
// waiting. Errors: kUnavailable naming host and port, kTimeout, kCancelled. The system's look-up
// cannot be interrupted: after a timeout it continues, and its result is dropped.
base::Task<base::Result<std::vector<Tcp::endpoint>>> Resolve(std::string host, std::uint16_t port,
                                                             base::TimePoint deadline);

}  // namespace http
