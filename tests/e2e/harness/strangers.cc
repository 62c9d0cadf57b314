#include "tests/e2e/harness/strangers.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "pkg/base/scheduler.h"
#include "pkg/http/connection.h"
#include "tests/pkg/http/tls_attacker.h"

namespace e2e {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kRest = 200ms;  // before a client connects again

base::TimePoint Never() { return base::RealClock().Now() + 10min; }

std::string ReviewHead() {
  return "POST /validate/core?timeout=10s HTTP/1.1\r\nHost: x\r\nContent-Type: "
         "application/json\r\n";
}

std::shared_ptr<const http::TlsContext> Context() {
  http::TlsOptions options;
  options.insecure = true;
  return http::TlsContext::ForClient(options).value();
}

}  // namespace

Conduct SaysNothing() { return {.tls = false}; }
Conduct AnnouncesALongHello() {
  // A record of 400 bytes; in it the beginning of a ClientHello of 126 976.
  return {.tls = false,
          .say = std::string("\x16\x03\x01\x01\x90\x01\x01\xf0\x00\x03\x03", 11) +
                 std::string(394, '\0')};
}
Conduct ShakesHandsOnly() { return {}; }
Conduct BeginsAHeader(std::size_t bytes) {
  return {.say = ReviewHead() + "X-Long: " + std::string(bytes, 'x')};
}
Conduct BeginsABody(std::size_t bytes) {
  return {.say = ReviewHead() + "Content-Length: " + std::to_string(bytes + 1) + "\r\n\r\n",
          .body = bytes};
}

Conduct UpdatesItsKeys(int times) { return {.tls = false, .key_updates = times}; }

Strangers::Strangers(const Where& where, Conduct conduct)
    : port_(where.port), conduct_(std::move(conduct)), context_(Context()) {
  for (int i = 0; i < where.count; ++i) {
    const std::string address = "127.0.0." + std::to_string(where.first + i % where.addresses);
    tasks_.Spawn("stranger", [this, address] { return KeepComing(address); });
  }
  thread_ = std::thread([this] { io_.run(); });
}

Strangers::~Strangers() {
  asio::post(io_, [this] { tasks_.Cancel(); });
  thread_.join();
}

base::Task<void> Strangers::KeepComing(std::string address) {
  co_await base::DeferCancellation();
  asio::steady_timer rest(io_);
  for (bool stopping = false; !stopping; stopping = co_await base::Stopping()) {
    co_await ComeOnce(address);
    rest.expires_after(kRest);
    co_await rest.async_wait(base::kTuple);
  }
}

base::Task<void> Strangers::ComeOnce(std::string address) {
  http::Tcp::socket raw(io_);
  boost::system::error_code error;
  raw.open(http::Tcp::v4(), error);
  if (!error) raw.bind({asio::ip::make_address(address), 0}, error);
  if (error) co_return;
  const http::Tcp::endpoint server(asio::ip::address_v4::loopback(), port_);
  std::tie(error) = co_await raw.async_connect(server, base::kTuple);
  if (error) co_return;
  http::Connection connection(std::make_shared<http::Socket>(std::move(raw), address));
  if (conduct_.tls) {
    auto shaken = co_await connection.StartTls(
        http::TlsStream::Client(context_, connection.stream(), "127.0.0.1", address), Never());
    if (!shaken) co_return;
  }
  ++made_;
  if (conduct_.key_updates > 0) co_return co_await Flood(connection);
  ++held_;
  bool open = true;
  if (!conduct_.say.empty()) {
    const auto said = co_await connection.Send(conduct_.say, Never());
    open = said.has_value();
  }
  for (std::size_t sent = 0; open && sent < conduct_.body; sent += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, conduct_.body - sent);
    const auto done = co_await connection.Send(std::string(piece, ' '), Never());
    open = done.has_value();
    if (open) sent_ += piece;
  }
  while (open && conduct_.reads) {
    const auto received = co_await connection.Receive(Never());
    open = received && !received->empty();
  }
  --held_;
}

base::Task<void> Strangers::Flood(http::Connection& connection) {
  http::test::TlsAttacker attacker({});
  for (bool done = false; !done;) {
    done = attacker.ShakeHands();
    std::string bytes = attacker.Take();
    if (!bytes.empty()) (void)co_await connection.Send(std::move(bytes), Never());
    if (done) break;
    const auto received = co_await connection.Receive(Never());
    if (!received || received->empty()) co_return;
    attacker.Give(*received);
  }
  // A few at a time, so that the first ones arrive at once, also from a slow machine.
  constexpr int kAtATime = 256;
  for (int left = conduct_.key_updates; left > 0; left -= kAtATime) {
    attacker.UpdateKeys(std::min(left, kAtATime), false);
    std::string records = attacker.Take();
    const std::size_t bytes = records.size();
    const auto sent = co_await connection.Send(std::move(records), Never());
    if (!sent) co_return;
    sent_ += bytes;
  }
  // Until the other side ends the connection.
  for (bool open = true; open;) {
    const auto received = co_await connection.Receive(Never());
    open = received && !received->empty();
  }
}

}  // namespace e2e
