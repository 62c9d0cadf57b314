#pragma once

// Internal to pkg/http. Keep-alive connections that wait for their next request, the youngest used
// first. Old ones are closed when the pool is next looked at. No I/O of its own but closing, and
// asking the kernel whether the peer has closed.

#include <chrono>
#include <memory>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/http/connection.h"

namespace http {

class Pool {
 public:
  Pool(std::size_t max_idle, std::chrono::milliseconds idle_timeout)
      : max_idle_(max_idle), idle_timeout_(idle_timeout) {}

  // Null when none is usable.
  std::unique_ptr<Connection> Take(base::TimePoint now);
  // `generation` is the one current when the connection was taken or dialled: what was brought up
  // before a Clear() is not kept.
  void Put(std::unique_ptr<Connection> connection, int generation, base::TimePoint now);
  void Clear();
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
