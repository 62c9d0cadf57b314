#include "tests/e2e/harness/sockets.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

namespace e2e {
namespace {

// -1: the port is taken. Port 0 is any.
int BindOnLoopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = Loopback(port);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int ListenOnLoopback() {
  const int fd = BindOnLoopback(0);
  if (fd < 0 || listen(fd, 128) != 0) {
    throw std::runtime_error(std::string("cannot listen on 127.0.0.1: ") + strerror(errno));
  }
  return fd;
}

std::uint16_t PortOf(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool SendAll(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const auto sent = send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

int ConnectToLoopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = Loopback(port);
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Who asks twice before binding must not be given the same port, so each comes once in a round. The
// round begins anywhere: other programs of tests ask for ports at the same time.
std::uint16_t FreePort() {
  constexpr std::uint16_t kFirst = 20000;
  constexpr std::uint16_t kPorts = 12000;  // below those that the kernel gives to connections
  static std::mutex mutex;
  static unsigned next = std::random_device{}() % kPorts;
  const std::lock_guard lock(mutex);
  for (int tries = 0; tries < kPorts; ++tries) {
    const auto port = static_cast<std::uint16_t>(kFirst + next);
    next = (next + 1) % kPorts;
    const int fd = BindOnLoopback(port);
    if (fd < 0) continue;
    close(fd);
    return port;
  }
  throw std::runtime_error("no port of 127.0.0.1 is free");
}

}  // namespace e2e
