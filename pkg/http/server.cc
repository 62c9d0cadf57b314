#include "pkg/http/server.h"

#include <glog/logging.h>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>

#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/server_connection.h"

namespace http {
namespace {

namespace asio = boost::asio;
// Out of descriptors, or of connections that can give way: wait until some are closed.
constexpr std::chrono::milliseconds kAcceptPause{100};
// Connections accepted in one turn of the event loop, a millisecond's work.
constexpr int kAcceptedAtOnce = 64;

// Returns an IPv4-mapped IPv6 address as the IPv4 address.
std::string Plain(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

std::string Text(const Tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port());
}

class AsioServer final : public Server {
 public:
  AsioServer(asio::any_io_executor executor, ServerOptions options, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        crowd_({.connections = options_.max_connections,
                .bytes = options_.max_held_bytes,
                .bytes_unproven = options_.max_unproven_bytes},
               clock_),
        handshakes_(std::make_shared<HandshakeQueue>(executor)),
        scheduler_(executor),
        idle_limit_(scheduler_, options_.idle),
        acceptor_(executor),
        pause_(executor),
        grace_(executor),
        tasks_(executor) {}

  base::Result<void> Listen();
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] ServerStats stats() const override;
  base::Task<void> Run() override;
  void Drain(bool drain) override;
  void Stop(std::chrono::milliseconds grace) override;
  base::Result<void> SetTls(ServerTls tls) override;

 private:
  base::Result<void> ListenOn(const Tcp::endpoint& endpoint);
  base::Task<void> AcceptWaiting();
  base::Task<void> Pause(std::chrono::steady_clock::duration at_most);
  void Begin(Tcp::socket socket);
  void StopNow();

  const ServerOptions options_;
  const Handler handler_;
  const base::RealClock clock_;
  Crowd crowd_;
  const std::shared_ptr<HandshakeQueue> handshakes_;
  base::RealScheduler scheduler_;
  IdleLimit idle_limit_;
  ServerStats turned_away_;
  std::shared_ptr<const TlsContext> tls_;  // null: plain
  Tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  bool draining_ = false;
  bool stopped_ = false;
  asio::steady_timer pause_;  // between attempts to accept; cancelled when accepting may go on
  asio::steady_timer grace_;
  std::list<ServerConnection*> connections_;  // those running in tasks_
  base::TaskGroup tasks_;
};

base::Result<void> AsioServer::Listen() {
  if (options_.tls) {
    auto done = SetTls(*options_.tls);
    if (!done) return done;
  }
  if (options_.address.empty()) {
    // One socket for IPv4 and IPv6; if the machine has no IPv6, only IPv4.
    auto done = ListenOn({asio::ip::address_v6::any(), options_.port});
    return done ? done : ListenOn({asio::ip::address_v4::any(), options_.port});
  }
  boost::system::error_code error;
  const std::string text = options_.address == "localhost" ? "127.0.0.1" : options_.address;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "listen on \"" + options_.address + "\": not an IP address"};
  }
  return ListenOn({address, options_.port});
}

base::Result<void> AsioServer::ListenOn(const Tcp::endpoint& endpoint) {
  boost::system::error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6() && endpoint.address().is_unspecified()) {
    acceptor_.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (!error) {
    port_ = acceptor_.local_endpoint().port();
    return {};
  }
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  return base::Error{.code = base::ErrorCode::kUnavailable,
                     .message = "listen on " + Text(endpoint) + ": " + error.message()};
}

base::Result<void> AsioServer::SetTls(ServerTls tls) {
  auto context = TlsContext::ForServer(tls);
  if (!context) return context.error();
  tls_ = std::move(*context);
  return {};
}

base::Task<void> AsioServer::Run() {
  co_await base::DeferCancellation();
  while (!stopped_) {
    co_await AcceptWaiting();
    const bool cancelled = co_await base::Stopping();
    if (cancelled) Stop(std::chrono::milliseconds(0));
  }
  while (!tasks_.empty()) {
    co_await tasks_.Join();
    const bool cancelled = co_await base::Stopping();
    if (cancelled) StopNow();
  }
  CHECK(connections_.empty()) << "a connection has ended and is still listed";
  grace_.cancel();
}

// A connection that waits behind thousands of others must not wait for the handshakes of those, so
// they are accepted many at a time. The handshake queue then chooses among all of them. At the
// bound one is accepted at a time: clients that have to give way come again at once, and requests
// must not wait for all of them. Nobody gives way before another connection waits to be accepted.
base::Task<void> AsioServer::AcceptWaiting() {
  auto [error] = co_await acceptor_.async_wait(Tcp::acceptor::wait_read, base::kTuple);
  for (int i = 0; !error && !stopped_ && i < kAcceptedAtOnce; ++i) {
    if (i > 0 && crowd_.full()) co_return;
    if (!crowd_.MakeRoom()) co_return co_await Pause(kAcceptPause);
    Tcp::socket socket(acceptor_.get_executor());
    acceptor_.accept(socket, error);
    if (!error) Begin(std::move(socket));
    if (error == asio::error::connection_aborted) error = {};
  }
  const bool aborted = stopped_ || error == asio::error::operation_aborted;
  if (!error || aborted || error == asio::error::would_block) co_return;
  LOG_EVERY_N(ERROR, 100) << "accept: " << error.message();
  co_await Pause(kAcceptPause);
}

base::Task<void> AsioServer::Pause(std::chrono::steady_clock::duration at_most) {
  pause_.expires_after(at_most);
  co_await pause_.async_wait(base::kTuple);
}

void AsioServer::Begin(Tcp::socket socket) {
  boost::system::error_code gone;
  const Tcp::endpoint remote = socket.remote_endpoint(gone);
  // The client has disconnected already.
  if (gone) return;
  const ServerShared shared{options_, handler_, crowd_, *handshakes_, idle_limit_, turned_away_};
  auto connection = std::make_shared<ServerConnection>(
      shared, Plain(remote.address()), std::make_shared<Socket>(std::move(socket), Text(remote)),
      tls_);
  connection->Drain(draining_);
  const auto place = connections_.insert(connections_.end(), connection.get());
  tasks_.Spawn("http connection", [this, connection, place]() -> base::Task<void> {
    co_await connection->Run();
    connections_.erase(place);
    pause_.cancel();
  });
}

ServerStats AsioServer::stats() const {
  ServerStats stats = turned_away_;
  stats.connections = crowd_.size();
  stats.held_bytes = crowd_.bytes();
  return stats;
}

void AsioServer::Drain(bool drain) {
  draining_ = drain;
  for (ServerConnection* connection : connections_) connection->Drain(drain);
}

void AsioServer::Stop(std::chrono::milliseconds grace) {
  stopped_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  // Copied, because a stopped connection leaves the list.
  const auto snapshot = connections_;
  for (ServerConnection* connection : snapshot) connection->Stop();
  if (snapshot.empty()) return;
  grace_.expires_after(grace);
  grace_.async_wait([this](const boost::system::error_code& error) {
    if (!error) StopNow();
  });
}

void AsioServer::StopNow() {
  const auto snapshot = connections_;
  for (ServerConnection* connection : snapshot) connection->StopNow();
}

}  // namespace

base::Result<std::unique_ptr<Server>> NewServer(asio::any_io_executor executor,
                                                ServerOptions options, Handler handler) {
  auto server =
      std::make_unique<AsioServer>(std::move(executor), std::move(options), std::move(handler));
  auto done = server->Listen();
  if (!done) return done.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace http
