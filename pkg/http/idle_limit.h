#pragma once

// Internal to pkg/http. Delays answers that would make their client close connections.
//
// A Go client keeps a number of idle connections to a server (net/http, MaxIdleConnsPerHost), and
// closes those that become idle beyond it. A kube-apiserver keeps 25 to a webhook (client-go
// v0.36.3, transport/cache.go, idleConnsPerHost). If 60 reviews are answered at once, it closes 35
// connections, and opens as many for its next calls. Each costs a TLS handshake. So an answer that
// would leave too many connections of its address idle waits until a request comes over one of
// them. It does not wait for long, and not at all while the client is quiet: then it has no further
// requests yet.
//
// Several API servers may share one address (konnectivity, SNAT), and keep 25 connections each. So
// only connections that became idle lately count. A review waits for those of another API server
// only while that one sends many.
//
// Single-threaded.

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "pkg/base/scheduler.h"
#include "pkg/http/server.h"

namespace http {

class IdleLimit {
 public:
  static_assert(IdleBounds().quiet < IdleBounds().longest_wait,
                "a quiet client is noticed before its answers have waited for long");
  static_assert(IdleBounds().longest_wait < IdleBounds().lately,
                "what is idle when an answer begins to wait still counts when it is sent");

  // The scheduler must outlive this.
  IdleLimit(base::Scheduler& scheduler, const IdleBounds& bounds)
      : scheduler_(scheduler), bounds_(bounds) {}
  ~IdleLimit();  // REQUIRES: no connections
  IdleLimit(const IdleLimit&) = delete;
  IdleLimit& operator=(const IdleLimit&) = delete;

  class Connection;

 private:
  struct Wait {
    Connection* connection;
    std::unique_ptr<base::Alarm> alarm;
    bool has_room = false;
  };
  struct Address {
    std::size_t connections = 0;
    base::TimePoint last{};       // when the latest request came, or an answer found room
    std::list<Connection*> idle;  // lately; the first one is idle for the longest time
    std::list<Wait*> waiting;     // the first one has waited longest
  };

  base::Scheduler& scheduler_;
  const IdleBounds bounds_;
  std::map<std::string, Address> addresses_;  // those with connections
};

// One connection. The limit must outlive it.
class IdleLimit::Connection {
 public:
  Connection(IdleLimit& limit, const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns when an answer may be sent. From then on the connection is idle. If the coroutine is
  // cancelled, returns at once or throws. REQUIRES: no request was answered since Leave().
  base::Task<void> BecomeIdle();
  // A request comes, or the client has disconnected. Does nothing if the connection is not idle.
  void Leave();

 private:
  base::Task<void> WaitForRoom();
  [[nodiscard]] bool HasRoom();
  void Enter();

  IdleLimit& limit_;
  const std::map<std::string, Address>::iterator place_;
  std::list<Connection*>::iterator among_idle_;  // if it counts as idle
  bool idle_ = false;                            // counts as idle
  base::TimePoint since_{};
};

}  // namespace http
