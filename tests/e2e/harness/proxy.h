#pragma once

// A TCP relay between the daemon and its API server: tests use it to make the network fail. It
// carries bytes and knows no HTTP, so TLS passes through (the certificates name 127.0.0.1).
//
// Runs on its own thread; the functions may be called from the test's thread.

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
  // Closes every connection, even in mid-event. New ones are accepted.
  void Cut();
  // While refusing, a new connection is closed as soon as it is accepted.
  void Refuse(bool refuse);
  // While stalled, connections stay open and carry no byte.
  void Stall(bool stall);
  // While swallowing, bytes are read and dropped, and neither side learns when the other
  // disconnects: half-open connections. Dropped bytes are lost, so these connections are unusable
  // afterwards.
  void Swallow(bool swallow);
  // The connections of this moment stay open and never carry a byte again; new ones are relayed. So
  // a load balancer fails that has forgotten its connections.
  void Abandon();
  // Delays bytes, and the end of a connection, by this time. Zero: no delay.
  void Slow(std::chrono::milliseconds delay);
  // Bytes received from the target so far.
  [[nodiscard]] std::uint64_t bytes_from_target() const;
  // Connections accepted so far.
  [[nodiscard]] int accepted() const;

 private:
  class Relay;
  std::unique_ptr<Relay> relay_;
};

}  // namespace e2e
