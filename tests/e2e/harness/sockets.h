#pragma once

// Blocking sockets on 127.0.0.1, for the tests' relays. Any thread.

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>

namespace e2e {

sockaddr_in Loopback(std::uint16_t port);
// Listens on any port. Throws if it cannot.
int ListenOnLoopback();
std::uint16_t PortOf(int fd);
// -1: nobody listens there.
int ConnectToLoopback(std::uint16_t port);
// Returns false if the other side has disconnected.
bool SendAll(int fd, const char* data, std::size_t size);

// Returns an unused port below the range that the kernel gives to outgoing connections, which could
// otherwise take it before the server binds. No other process that calls this gets the port while
// this one lives. The last hundreds of calls returned other ports, so that a server may be stopped
// and started again.
std::uint16_t FreePort();

}  // namespace e2e
