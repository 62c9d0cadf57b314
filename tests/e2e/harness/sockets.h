#pragma once

// Blocking sockets on 127.0.0.1, as relays of tests use them. Any thread.

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
// False: the other side has gone.
bool SendAll(int fd, const char* data, std::size_t size);

// A port nobody listens on at the moment, below those that the kernel gives to outgoing
// connections: one of those could have it before the server does that it is for. No other process
// that calls this gets it as long as this one lives, and no call of this process gets what one of
// the last hundreds got: a server may be stopped and started again.
std::uint16_t FreePort();

}  // namespace e2e
