#pragma once

// Internal to pkg/http. Keep-alive connections that wait for their next request. The one used last
// is taken first. Old ones are closed on the next access to the pool. Its only I/O is closing, and
// asking the kernel whether the peer has closed.

#include <chrono>
#include <memory>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/http/connection.h"

namespace http {

class Pool {
 public:
  Pool(std::size_t max_idle, std::chrono::milliseconds idle_timeout)
      : max_idle_(max_idle), idle_timeout_(idle_timeout) {}

  // Null if none is usable.
  std::unique_ptr<Connection> Take(base::TimePoint now);
  // `generation` is the generation when the connection was taken or dialled. A connection from
  // before a Clear() is not kept.
  void Put(std::unique_ptr<Connection> connection, int generation, base::TimePoint now);
  void Clear();
  // A connection failed, in its handshake or later. If the peer was silent, the idle connections
  // may lead to the same hole, for example to a load balancer that has forgotten them. So they are
  // closed. Those in use show by themselves whether they are alive.
  void OnFailure(const base::Error& error) {
    if (error.Is(base::ErrorCode::kTimeout)) idle_.clear();
  }
  [[nodiscard]] int generation() const { return generation_; }

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    base::TimePoint since;
  };
  void DropOld(base::TimePoint now);

  const std::size_t max_idle_;
  const std::chrono::milliseconds idle_timeout_;
  int generation_ = 0;
  std::vector<Idle> idle_;  // oldest first
};

}  // namespace http
