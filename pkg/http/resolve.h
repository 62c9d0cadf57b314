#pragma once

// Internal to pkg/http. Host names to addresses, within a deadline.

#include <string>
#include <vector>

#include "pkg/http/socket.h"

namespace http {

// At least one endpoint, in the resolver's order; an IP address resolves to itself, without
// waiting. Errors: kUnavailable naming host and port, kTimeout, kCancelled. The system's look-up
// cannot be interrupted: after a timeout it ends by itself, unheard.
base::Task<base::Result<std::vector<Tcp::endpoint>>> Resolve(std::string host, std::uint16_t port,
                                                             base::TimePoint deadline);

}  // namespace http
