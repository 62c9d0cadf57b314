#include "tests/e2e/harness/sockets.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

namespace e2e {
namespace {

// Returns -1 if the port is taken. Port 0 means any.
int BindOnLoopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = Loopback(port);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Below the range that the kernel gives to outgoing connections.
constexpr unsigned kFirstPort = 20000;
constexpr unsigned kPortsOfBlock = 250;
constexpr unsigned kBlocks = 48;

// True if this process now owns the block. The socket's name is free again when the process ends,
// for whatever reason.
bool TryToReserve(unsigned block) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that begins with 0 is not a file.
  const std::string name = "qcm-e2e-ports-" + std::to_string(block);
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return true;
  if (fd >= 0) close(fd);
  return false;
}

unsigned ReserveBlock() {
  const unsigned begin = std::random_device{}();
  for (unsigned i = 0; i < kBlocks; ++i) {
    const unsigned block = (begin % kBlocks + i) % kBlocks;
    if (TryToReserve(block)) return block;
  }
  throw std::runtime_error("too many processes ask for ports of 127.0.0.1");
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

// Each port is returned once in a round: two calls before a bind must not return the same port.
std::uint16_t FreePort() {
  static std::mutex mutex;
  static const unsigned first = kFirstPort + ReserveBlock() * kPortsOfBlock;
  static unsigned next = 0;
  const std::lock_guard lock(mutex);
  for (unsigned tries = 0; tries < kPortsOfBlock; ++tries) {
    const auto port = static_cast<std::uint16_t>(first + next);
    next = (next + 1) % kPortsOfBlock;
    const int fd = BindOnLoopback(port);
    if (fd < 0) continue;
    close(fd);
    return port;
  }
  throw std::runtime_error("no port of 127.0.0.1 is free");
}

}  // namespace e2e
