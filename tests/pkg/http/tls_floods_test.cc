// Peers that send TLS records without data, or with hardly any, faster than they are handled.
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "pkg/http/tls.h"
#include "tests/pkg/http/loopback.h"
#include "tests/pkg/http/tls_attacker.h"

namespace tls_floods_test {

namespace {

using base::Task;
using http::test::Authority;
using http::test::kLong;
using http::test::Loopback;
using http::test::Soon;
using http::test::TlsAttacker;
using namespace std::chrono_literals;

constexpr int kMany = 2'000;
const std::string kGet = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

// Passes bytes between the attacker and the other side until the handshake is done.
Task<void> ShakeHands(http::Connection& connection, TlsAttacker& attacker) {
  for (;;) {
    const bool done = attacker.ShakeHands();
    std::string bytes = attacker.Take();
    if (!bytes.empty()) co_await connection.Send(std::move(bytes), Soon());
    if (done) co_return;
    const auto received = co_await connection.Receive(Soon());
    REQUIRE((received && !received->empty()));
    attacker.Give(*received);
  }
}

// True if the other side ends the connection.
Task<bool> Ends(http::Connection& connection) {
  for (;;) {
    const auto received = co_await connection.Receive(base::RealClock().Now() + 10s);
    if (!received) co_return !received.error().Is(base::ErrorCode::kTimeout);
    if (received->empty()) co_return true;
  }
}

Task<std::string> AnswerTo(http::Connection& connection, TlsAttacker& attacker,
                           std::string request) {
  co_await connection.Send(std::move(request), Soon());
  std::string answer;
  while (answer.find("GET /x ") == std::string::npos) {
    const auto received = co_await connection.Receive(Soon());
    if (!received || received->empty()) break;
    attacker.Give(*received);
    answer += attacker.Listen();
  }
  co_return answer;
}

struct Flood {
  std::string name;
  std::function<std::string(TlsAttacker&)> make;
  bool tls12 = false;
};

std::string UpdateKeys(TlsAttacker& attacker, int times, bool ask) {
  attacker.UpdateKeys(times, ask);
  return attacker.Take();
}

const std::string kHello("\x01\x00\x00\x00", 4);  // the shortest ClientHello
const std::string kWarning("\x01\x5A", 2);        // user_canceled

// In turn, so that OpenSSL's own limits on each do not help.
std::string Mixed(TlsAttacker& attacker) {
  std::string records;
  for (int i = 0; i < kMany; ++i) {
    const bool hello = i % 4 == 3;
    records += hello        ? attacker.Seal(TlsAttacker::kHandshake, kHello)
               : i % 4 == 2 ? attacker.Seal(TlsAttacker::kAlert, kWarning)
                            : attacker.Seal(TlsAttacker::kData, "");
  }
  return records;
}

std::string Hellos(TlsAttacker& attacker) {
  std::string records;
  for (int i = 0; i < kMany; ++i) records += attacker.Seal(TlsAttacker::kHandshake, kHello);
  return records;
}

const std::vector<Flood>& Floods() {
  static const std::vector<Flood> floods{
      {"key updates", [](TlsAttacker& a) { return UpdateKeys(a, kMany, false); }},
      {"key updates that ask for one", [](TlsAttacker& a) { return UpdateKeys(a, kMany, true); }},
      {"hellos", Hellos, true},
      {"hellos, alerts and empty records", Mixed, true}};
  return floods;
}

TEST_CASE("tls floods: records without data end the connection", "[http][tls][server]") {
  const bool asks_first = GENERATE(false, true);
  const std::size_t kind = GENERATE(range(std::size_t{0}, std::size_t{4}));
  const Flood& flood = Floods()[kind];
  INFO(flood.name);
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    TlsAttacker attacker({.tls12 = flood.tls12});
    co_await ShakeHands(*connection, attacker);
    if (asks_first) {
      std::string request;
      if (flood.tls12) request = attacker.Seal(TlsAttacker::kData, kGet);
      if (!flood.tls12) attacker.Say(kGet);
      request += attacker.Take();
      const std::string answer = co_await AnswerTo(*connection, attacker, std::move(request));
      CHECK(answer.find("200 OK") != std::string::npos);
    }
    std::string records = flood.make(attacker);
    (void)co_await connection->Send(std::move(records), Soon());
    const bool ended = co_await Ends(*connection);
    CHECK(ended);
    co_await http::test::Yield();
    CHECK(loopback.server().stats().malformed == 1);
    CHECK(loopback.server().stats().connections == 0);
  });
}

TEST_CASE("tls floods: they end a connection to which an answer is streamed",
          "[http][tls][server]") {
  const bool ask = GENERATE(false, true);
  const Authority authority;
  Loopback loopback;
  bool cancelled = false;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await base::DeferCancellation();
    co_await writer.Start(200, {});
    while (!cancelled) {
      (void)co_await writer.Write("GET /x again and again\n");
      co_await base::NextTurn();
      cancelled = co_await base::Stopping();
    }
  };
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    TlsAttacker attacker({});
    co_await ShakeHands(*connection, attacker);
    attacker.Say(kGet);
    std::string request = attacker.Take();
    co_await AnswerTo(*connection, attacker, std::move(request));
    std::string records = UpdateKeys(attacker, kMany, ask);
    (void)co_await connection->Send(std::move(records), Soon());
    const bool ended = co_await Ends(*connection);
    CHECK(ended);
    co_await http::test::Yield();
    CHECK(cancelled);
    CHECK(loopback.server().stats().malformed == 1);
  });
}

TEST_CASE("tls floods: a client may change its keys now and then", "[http][tls][server]") {
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    TlsAttacker attacker({});
    co_await ShakeHands(*connection, attacker);
    for (int i = 0; i < 5; ++i) {
      attacker.UpdateKeys(3, i % 2 == 0);
      attacker.Say(kGet);
      std::string request = attacker.Take();
      const std::string answer = co_await AnswerTo(*connection, attacker, std::move(request));
      CHECK(answer.find("200 OK") != std::string::npos);
    }
  });
}

TEST_CASE("tls floods: a hello in pieces of one byte is refused", "[http][tls][server]") {
  const bool tls12 = GENERATE(false, true);
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    TlsAttacker attacker({.tls12 = tls12});
    REQUIRE_FALSE(attacker.ShakeHands());
    const std::string hello = attacker.Take();
    std::string pieces = http::test::InPieces(hello);
    (void)co_await connection->Send(std::move(pieces), Soon());
    const bool ended = co_await Ends(*connection);
    CHECK(ended);
    co_await http::test::Yield();
    CHECK(loopback.server().stats().malformed == 1);
    CHECK(loopback.server().stats().connections == 0);
  });
}

TEST_CASE("tls floods: one read takes few records, however small they are", "[http][tls]") {
  constexpr int kRecords = 500;
  const Authority authority;
  const auto context = http::TlsContext::ForServer(authority.Serve()).value();
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::test::Listener listener(loopback.io());
    const auto sending = co_await loopback.Dial(listener.port());
    const auto reading = co_await listener.Accept();
    base::TaskGroup peer(co_await base::asio::this_coro::executor);
    peer.Spawn("peer", [&]() -> Task<void> {
      TlsAttacker attacker({});
      co_await ShakeHands(*sending, attacker);
      for (int i = 0; i < kRecords; ++i) attacker.Say("x");
      std::string records = attacker.Take();
      co_await sending->Send(std::move(records), Soon());
    });
    const auto ready = co_await reading->StartTls(
        http::TlsStream::Server(context, reading->stream(), "peer"), Soon());
    REQUIRE(ready.has_value());
    co_await peer.Join();
    std::size_t bytes = 0;
    while (bytes < kRecords) {
      const auto received = co_await reading->Receive(Soon());
      REQUIRE((received && !received->empty()));
      CHECK(received->size() <= 16);
      bytes += received->size();
    }
  });
}

TEST_CASE("tls floods: a server cannot occupy a client", "[http][tls]") {
  const bool tickets = GENERATE(true, false);
  const Authority authority;
  const http::ServerTls served = authority.Serve();
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::test::Listener listener(loopback.io());
    base::TaskGroup server(co_await base::asio::this_coro::executor);
    server.Spawn("server", [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      TlsAttacker attacker({.is_server = true,
                            .identity = {.cert_pem = served.cert_pem, .key_pem = served.key_pem}});
      co_await ShakeHands(*connection, attacker);
      if (tickets) attacker.SendTickets(kMany);
      if (!tickets) attacker.UpdateKeys(kMany, true);
      std::string records = attacker.Take();
      (void)co_await connection->Send(std::move(records), Soon());
      co_await Ends(*connection);
    });
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "127.0.0.1", .port = listener.port()};
    options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), 10s);
    REQUIRE_FALSE(response.has_value());
    INFO(response.error().message);
    CHECK(response.error().Is(base::ErrorCode::kTls));
    CHECK(response.error().message.find("too many records") != std::string::npos);
    co_await server.Join();
  });
}

// Receives while bytes keep coming. The number of reads until the error.
Task<int> ReadsUntil(http::Connection& connection, base::TimePoint deadline,
                     base::ErrorCode expected) {
  for (int reads = 0;; ++reads) {
    const auto received = co_await connection.Receive(deadline);
    if (received && reads < 1'000) continue;
    REQUIRE_FALSE(received.has_value());
    CHECK(received.error().Is(expected));
    co_return reads;
  }
}

TEST_CASE("connection: bytes that keep coming extend neither a deadline nor a cancelled life",
          "[http]") {
  const bool cancel = GENERATE(true, false);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::test::Listener listener(loopback.io());
    const auto sending = co_await loopback.Dial(listener.port());
    const auto reading = co_await listener.Accept();
    base::TaskGroup tasks(co_await base::asio::this_coro::executor);
    tasks.Spawn("peer", [&]() -> Task<void> {
      co_await base::DeferCancellation();
      for (bool open = true; open;) {
        const auto sent = co_await sending->Send(std::string(std::size_t{1} << 20, 'x'), Soon());
        open = sent.has_value();
      }
    });
    base::TaskGroup reader(co_await base::asio::this_coro::executor);
    int reads = -1;
    bool started = false;
    reader.Spawn("reader", [&]() -> Task<void> {
      co_await base::DeferCancellation();
      started = true;
      co_await base::NextTurn();
      if (cancel) {
        reads = co_await ReadsUntil(*reading, Soon(), base::ErrorCode::kCancelled);
      } else {
        reads = co_await ReadsUntil(*reading, base::RealClock().Now(), base::ErrorCode::kTimeout);
      }
    });
    while (cancel && !started) co_await base::NextTurn();
    if (cancel) reader.Cancel();
    co_await reader.Join();
    CHECK(reads >= 0);
    CHECK(reads <= 16);
    reading->Close();
    co_await tasks.Join();
  });
}

}  // namespace

}  // namespace tls_floods_test
