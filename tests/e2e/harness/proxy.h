#pragma once

// A TCP relay between the daemon and its API server that can be cut: how tests make a network fail.
// It carries bytes and knows no HTTP, so TLS passes through it (the certificates name 127.0.0.1).
//
// Runs on a thread of its own; the functions may be called from the test's thread.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "tests/e2e/harness/sockets.h"

namespace e2e {

class TcpProxy {
 public:
  explicit TcpProxy(std::uint16_t target_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // Closes every connection, watches in mid-event included. New ones are welcome.
  void Cut();
  // While refusing, a new connection is closed as soon as it is accepted.
  void Refuse(bool refuse);
  // While stalled, connections stay open and carry no byte.
  void Stall(bool stall);
  // While swallowing, bytes are taken and go nowhere, and nobody is told when a side hangs up: half
  // open. What was swallowed is lost, so that connections of that time are of no use afterwards.
  void Swallow(bool swallow);
  // From now on bytes, and the end of a connection, arrive so much later. Zero: at once again.
  void Slow(std::chrono::milliseconds delay);
  // Bytes that came from the target so far.
  [[nodiscard]] std::uint64_t bytes_from_target() const;
  // Connections accepted so far.
  [[nodiscard]] int accepted() const;

 private:
  class Relay;
  std::unique_ptr<Relay> relay_;
};

}  // namespace e2e
