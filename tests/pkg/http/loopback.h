#pragma once

// Runs a server and a test body on one io_context, over loopback.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/http/certificate.h"
#include "pkg/http/client.h"
#include "pkg/http/connection.h"
#include "pkg/http/server.h"

namespace http::test {

// Only a broken test waits for so long, even if the machine stands still for a while.
inline constexpr std::chrono::seconds kLong{120};

class Loopback {
 public:
  // Set before Run().
  ServerOptions options;
  Handler handler;

  // Runs `test` while the server accepts; stops the server, and returns when everything has ended.
  // Rethrows the test's exception. A test that takes much longer than kLong ends the program.
  void Run(std::function<base::Task<void>()> test);

  [[nodiscard]] base::asio::io_context& io() { return io_; }
  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // "http://127.0.0.1:port" or https.
  [[nodiscard]] Url url(const std::string& host = "127.0.0.1") const;

  // A bare connection to the server, or to any port of this machine.
  base::Task<std::unique_ptr<Connection>> Dial(std::uint16_t to_port = 0);
  // Sends `text` and reads until the server ends its side.
  base::Task<std::string> Talk(std::string text);

 private:
  base::asio::io_context io_{1};
  std::unique_ptr<Server> server_;
};

// A scripted peer: accepts one connection after another.
class Listener {
 public:
  explicit Listener(base::asio::io_context& io);
  [[nodiscard]] std::uint16_t port() const;
  base::Task<std::unique_ptr<Connection>> Accept();

 private:
  Tcp::acceptor acceptor_;
};

// Reads until `marker` has arrived, or the peer ended its side.
base::Task<std::string> ReadUntil(Connection& connection, std::string marker);

// Lets everything that is ready run.
base::Task<void> Yield();

base::TimePoint Soon();  // the deadline in kLong

// A CA, and certificates that it signed for 127.0.0.1 and localhost.
struct Authority {
  Authority();
  [[nodiscard]] CertificatePair Issue(CertificateSpec spec) const;
  [[nodiscard]] ServerTls Serve() const;
  CertificatePair ca;
};

// Copies until `from` ends or fails, and closes neither.
base::Task<void> Forward(Connection& from, Connection& to);
// Copies both ways until one side ends, and closes both.
base::Task<void> Relay(Connection& a, Connection& b);

// Answers every request with its method, target and body.
base::Task<void> Echo(Request request, Peer peer, ResponseWriter& writer);

}  // namespace http::test
