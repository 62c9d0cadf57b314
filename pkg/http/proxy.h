#pragma once

// Internal to pkg/http. The handshake with a proxy, after which the connection reaches the server.
// Errors: kUnavailable naming proxy, server and the proxy's reason; kMalformed; those of a
// connection.

#include "pkg/http/connection.h"
#include "pkg/http/message.h"

namespace http {

// "Basic …" for the proxy's user and password; "" without a user.
std::string ProxyAuthorization(const Url& proxy);

// `connection` must outlive the calls.
base::Task<base::Result<void>> HttpConnect(Connection& connection, Url proxy, Url server,
                                           base::TimePoint deadline);
// The proxy resolves names.
base::Task<base::Result<void>> Socks5Connect(Connection& connection, Url proxy, Url server,
                                             base::TimePoint deadline);

}  // namespace http
