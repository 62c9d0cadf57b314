#pragma once

// Malicious clients of a port: each keeps a connection as long as it can by never finishing what it
// has begun, and connects again when it is disconnected. They run on their own thread; the
// functions may be called from any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "pkg/base/asio.h"
#include "pkg/base/task_group.h"
#include "pkg/http/connection.h"
#include "pkg/http/tls.h"

namespace e2e {

struct Conduct {
  bool tls = true;       // does a TLS handshake first
  std::string say{};     // then sends this
  std::size_t body = 0;  // then sends so many bytes of a body that is one byte longer
  bool reads = true;     // reads the answers
  int key_updates = 0;   // then sends so many TLS records without data
};

// The behaviours of such clients at the webhook's port.
Conduct SaysNothing();          // not even the beginning of a handshake
Conduct AnnouncesALongHello();  // of 128 KiB, of which a few bytes are sent
Conduct ShakesHandsOnly();
Conduct BeginsAHeader(std::size_t bytes);
Conduct BeginsABody(std::size_t bytes);
Conduct UpdatesItsKeys(int times);  // all prepared before the first is sent

class Strangers {
 public:
  // The number of clients, and their `addresses` local addresses from 127.0.0.`first` on.
  struct Where {
    std::uint16_t port = 0;
    int count = 1;
    int first = 2;
    int addresses = 1;
  };
  Strangers(const Where& where, Conduct conduct);
  ~Strangers();
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;

  // Bytes of bodies and key updates sent so far, current connections, and connections made so far.
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] int made() const { return made_; }

 private:
  base::Task<void> KeepComing(std::string address);
  base::Task<void> ComeOnce(std::string address);
  base::Task<void> Flood(http::Connection& connection);

  const std::uint16_t port_;
  const Conduct conduct_;
  const std::shared_ptr<const http::TlsContext> context_;
  std::atomic<std::size_t> sent_{0};
  std::atomic<int> held_{0};
  std::atomic<int> made_{0};
  base::asio::io_context io_{1};
  base::TaskGroup tasks_{io_.get_executor()};
  std::thread thread_;
};

}  // namespace e2e
