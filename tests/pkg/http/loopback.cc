#include "tests/pkg/http/loopback.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <exception>

#include "pkg/base/task_group.h"

namespace http::test {

namespace asio = boost::asio;

void Loopback::Run(std::function<base::Task<void>()> test) {
  auto made = NewServer(io_.get_executor(), options, handler);
  if (!made) FAIL(made.error().message);
  server_ = std::move(*made);
  std::exception_ptr failure;
  bool served = false;
  asio::steady_timer watchdog(io_, kLong + std::chrono::seconds(30));
  watchdog.async_wait([&](const boost::system::error_code& error) {
    if (!error) io_.stop();
  });
  asio::co_spawn(
      io_, [this]() -> base::Task<void> { co_await server_->Run(); },
      [&](const std::exception_ptr&) {
        served = true;
        watchdog.cancel();
      });
  asio::co_spawn(io_, std::move(test), [&](const std::exception_ptr& error) {
    failure = error;
    server_->Stop(std::chrono::milliseconds(0));
  });
  io_.run();
  if (!served) std::terminate();  // coroutines are left that cannot be ended
  server_.reset();
  if (failure) std::rethrow_exception(failure);
}

Url Loopback::url(const std::string& host) const {
  return {.scheme = options.tls ? "https" : "http", .host = host, .port = port()};
}

base::Task<std::unique_ptr<Connection>> Loopback::Dial(std::uint16_t to_port) {
  if (to_port == 0) to_port = port();
  auto socket = std::make_shared<Socket>(Tcp::socket(io_), "127.0.0.1:" + std::to_string(to_port));
  const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(), to_port);
  const auto connected = co_await socket->Connect(endpoint, Soon());
  REQUIRE(connected.has_value());
  co_return std::make_unique<Connection>(std::move(socket));
}

base::Task<std::string> Loopback::Talk(std::string text) {
  const std::unique_ptr<Connection> connection = co_await Dial();
  const auto sent = co_await connection->Send(std::move(text), Soon());
  REQUIRE(sent.has_value());
  co_return co_await ReadUntil(*connection, "");
}

Listener::Listener(asio::io_context& io)
    : acceptor_(io, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

std::uint16_t Listener::port() const { return acceptor_.local_endpoint().port(); }

base::Task<std::unique_ptr<Connection>> Listener::Accept() {
  Tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
  auto shared = std::make_shared<Socket>(std::move(socket), "peer");
  co_return std::make_unique<Connection>(std::move(shared));
}

base::Task<void> Forward(Connection& from, Connection& to) {
  for (;;) {
    const auto received = co_await from.Receive(Soon());
    if (!received || received->empty()) co_return;
    std::string bytes(*received);
    const auto sent = co_await to.Send(std::move(bytes), Soon());
    if (!sent) co_return;
  }
}

namespace {

base::Task<void> Copy(Connection& from, Connection& to) {
  co_await Forward(from, to);
  from.Close();
  to.Close();
}

}  // namespace

base::Task<void> Relay(Connection& a, Connection& b) {
  base::TaskGroup directions(co_await asio::this_coro::executor);
  directions.Spawn("there", [&] { return Copy(a, b); });
  directions.Spawn("back", [&] { return Copy(b, a); });
  co_await directions.Join();
}

base::Task<std::string> ReadUntil(Connection& connection, std::string marker) {
  std::string all;
  while (marker.empty() || all.find(marker) == std::string::npos) {
    const auto received = co_await connection.Receive(Soon());
    if (!received || received->empty()) break;
    all.append(*received);
  }
  co_return all;
}

base::Task<void> Yield() {
  const auto executor = co_await asio::this_coro::executor;
  for (int i = 0; i < 20; ++i) co_await asio::post(executor, asio::use_awaitable);
}

base::TimePoint Soon() { return base::RealClock().Now() + kLong; }

Authority::Authority() {
  CertificateSpec spec;
  spec.common_name = "test CA";
  spec.is_ca = true;
  ca = MakeCertificate(spec).value();
}

CertificatePair Authority::Issue(CertificateSpec spec) const {
  spec.issuer = &ca;
  return MakeCertificate(spec).value();
}

ServerTls Authority::Serve() const {
  CertificateSpec spec;
  spec.hosts = {"127.0.0.1", "localhost"};
  const CertificatePair pair = Issue(spec);
  return {.cert_pem = pair.cert_pem, .key_pem = pair.key_pem};
}

base::Task<void> Echo(Request request, Peer, ResponseWriter& writer) {
  Response response;
  response.headers.Add("Content-Type", "text/plain");
  response.body = request.method + " " + request.target + " " + request.body;
  co_await writer.Send(std::move(response));
}

}  // namespace http::test
