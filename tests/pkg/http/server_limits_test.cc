#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "pkg/http/server.h"
#include "tests/pkg/http/loopback.h"
#include "tests/pkg/http/tls_attacker.h"

namespace server_limits_test {

namespace {

using base::Task;
using http::test::Authority;
using http::test::kLong;
using http::test::Loopback;
using http::test::ReadUntil;
using http::test::Soon;
using http::test::Yield;
using namespace std::chrono_literals;

const std::string kGet = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Sends one request and reads the answer to the end of the Echo handler's body.
Task<std::string> AskOn(http::Connection& connection) {
  co_await connection.Send(kGet, Soon());
  co_return co_await ReadUntil(connection, "GET /x ");
}

TEST_CASE("server: the answer to the last request of a connection says Connection: close",
          "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_requests_per_connection = 3;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    for (int i = 1; i <= 3; ++i) {
      const std::string answer = co_await AskOn(*connection);
      CHECK(Contains(answer, "200 OK"));
      CHECK(Contains(answer, "Connection: close\r\n") == (i == 3));
    }
    const std::string rest = co_await ReadUntil(*connection, "");
    CHECK(rest.empty());
  });
}

TEST_CASE("server: the bound on requests of a connection loses no request", "[http][server]") {
  Loopback loopback;
  std::set<std::string> connections;
  loopback.options.max_requests_per_connection = 4;
  loopback.handler = [&](http::Request request, http::Peer peer,
                         http::ResponseWriter& writer) -> Task<void> {
    connections.insert(peer.address);
    co_await http::test::Echo(std::move(request), std::move(peer), writer);
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    for (int i = 0; i < 20; ++i) {
      http::Request request;
      request.method = "POST";
      const auto response = co_await client->Do(std::move(request), kLong);
      REQUIRE(response.has_value());
    }
  });
  CHECK(connections.size() == 5);
}

TEST_CASE("server: an old connection is closed after its next answer, not before",
          "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_connection_age = 50ms;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    // Its age begins when the server accepts it.
    while (loopback.server().stats().connections == 0) co_await Yield();
    const auto nothing = co_await connection->Receive(base::RealClock().Now() + 60ms);
    REQUIRE_FALSE(nothing.has_value());
    CHECK(nothing.error().Is(base::ErrorCode::kTimeout));
    const std::string answer = co_await AskOn(*connection);
    CHECK(Contains(answer, "200 OK"));
    CHECK(Contains(answer, "Connection: close\r\n"));
  });
}

TEST_CASE("server: while draining every request is answered with Connection: close",
          "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto kept = co_await loopback.Dial();
    const std::string before = co_await AskOn(*kept);
    CHECK_FALSE(Contains(before, "Connection: close\r\n"));
    loopback.server().Drain(true);
    const auto fresh = co_await loopback.Dial();
    for (http::Connection* connection : {kept.get(), fresh.get()}) {
      const std::string answer = co_await AskOn(*connection);
      CHECK(Contains(answer, "200 OK"));
      CHECK(Contains(answer, "Connection: close\r\n"));
    }
    const auto waiting = co_await loopback.Dial();
    loopback.server().Drain(false);
    const auto later = co_await loopback.Dial();
    for (http::Connection* connection : {waiting.get(), later.get()}) {
      const std::string answer = co_await AskOn(*connection);
      CHECK_FALSE(Contains(answer, "Connection: close\r\n"));
    }
  });
}

TEST_CASE("server: a request that has arrived when it stops is answered", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await AskOn(*connection);
    co_await connection->Send(kGet, Soon());
    loopback.server().Stop(10s);  // nothing ran in between, so the server has not read it
    const std::string answer = co_await ReadUntil(*connection, "");
    CHECK(Contains(answer, "200 OK"));
    CHECK(Contains(answer, "Connection: close\r\n"));
  });
}

TEST_CASE("server: slow clients do not delay others", "[http][server]") {
  const Authority authority;
  const bool tls = GENERATE(false, true);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  if (tls) loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    std::vector<std::unique_ptr<http::Connection>> slow;
    for (const char* beginning : {"", "POST / HTTP/1.1\r\nHo", "\x16\x03\x01",
                                  "POST / HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n",
                                  "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"}) {
      slow.push_back(co_await loopback.Dial());
      co_await slow.back()->Send(beginning, Soon());
    }
    co_await http::test::Yield();
    http::ClientOptions options;
    options.server = loopback.url();
    if (tls) options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), 5s);
    REQUIRE(response.has_value());
    CHECK(response->status == 200);
  });
}

// Whoever waits last must not wait for what the server does for each of the others.
TEST_CASE("server: connections that wait together are accepted together", "[http][server]") {
  constexpr std::size_t kWaiting = 60;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const http::Tcp::endpoint server(base::asio::ip::address_v4::loopback(), loopback.port());
    std::vector<http::Tcp::socket> waiting;
    for (std::size_t i = 0; i < kWaiting; ++i) {
      waiting.emplace_back(loopback.io());
      waiting.back().connect(server);  // without letting the server run
    }
    CHECK(loopback.server().stats().connections == 0);
    co_await http::test::Yield();  // fewer turns of the event loop than connections
    CHECK(loopback.server().stats().connections == kWaiting);
  });
}

TEST_CASE("server: an endless handshake is closed", "[http][server]") {
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.options.header_timeout = 50ms;
  loopback.Run([&]() -> Task<void> {
    const std::string silent = co_await loopback.Talk("");
    CHECK(silent.empty());
    const std::string half = co_await loopback.Talk("\x16\x03\x01\x02");
    CHECK(half.empty());
  });
}

TEST_CASE("server: plain HTTP on the TLS port is closed at once", "[http][server]") {
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    const std::string answer = co_await loopback.Talk(kGet);
    CHECK_FALSE(Contains(answer, "200 OK"));
  });
}

TEST_CASE("server: a Content-Length of 100 MB is refused before the body", "[http][server]") {
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.options.max_body_bytes = std::size_t{16} << 20;
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    http::Request request;
    request.method = "POST";
    request.headers.Add("Expect", "100-continue");
    request.body.assign(std::size_t{100} << 20, 'x');
    const auto response = co_await client->Do(std::move(request), kLong);
    // A client that is still sending when the answer comes may see a closed connection.
    if (response) CHECK(response->status == 413);
    if (!response) CHECK(response.error().Is(base::ErrorCode::kUnavailable));
  });
}

// A request with a body of so many bytes, without the last one.
std::string AllButOne(std::size_t bytes) {
  return "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
         std::string(bytes - 1, 'x');
}

TEST_CASE("server: a header of more than 100 fields is refused", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto with = [](int fields) {
      std::string request = "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
      for (int i = 2; i < fields; ++i) request += "a:\r\n";
      return request + "\r\n";
    };
    const std::string most = co_await loopback.Talk(with(100));
    CHECK(Contains(most, "200 OK"));
    const std::string more = co_await loopback.Talk(with(101));
    CHECK(Contains(more, "431 Request Header Fields Too Large"));
    CHECK(loopback.server().stats().too_large == 1);
  });
}

TEST_CASE("server: a Content-Length above the free memory is refused before the body",
          "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_held_bytes = 1'000'000;
  loopback.Run([&]() -> Task<void> {
    const std::string answer =
        co_await loopback.Talk("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    CHECK(Contains(answer, "429 Too Many Requests"));
    CHECK(Contains(answer, "Retry-After: 1\r\n"));
    CHECK(Contains(answer, "Connection: close\r\n"));
    CHECK(loopback.server().stats().no_memory == 1);
    CHECK(loopback.server().stats().held_bytes < 100'000);
  });
}

TEST_CASE("server: a body that keeps coming ends at its deadline", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_body_bytes = std::size_t{1} << 40;
  loopback.options.body_timeout = 50ms;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    base::TaskGroup client(loopback.io().get_executor());
    client.Spawn("client", [&]() -> Task<void> {
      std::string begin = "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
      auto sent = co_await connection->Send(std::move(begin), Soon());
      std::string chunks;
      while (chunks.size() < 60'000) chunks += "1;" + std::string(900, 'e') + "\r\nx\r\n";
      while (sent) sent = co_await connection->Send(chunks, Soon());
    });
    const std::string answer = co_await ReadUntil(*connection, "\r\n\r\n");
    CHECK(Contains(answer, "408 Request Timeout"));
    connection->Close();
    co_await client.Join();
  });
}

TEST_CASE("server: hellos of strangers do not delay a known connection", "[http][server]") {
  constexpr int kStrangers = 60;
  const Authority authority;
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto first = co_await client->Do(http::Request(), kLong);
    REQUIRE(first.has_value());
    std::vector<std::unique_ptr<http::Connection>> strangers;
    while (strangers.size() < kStrangers) strangers.push_back(co_await loopback.Dial());
    co_await http::test::Yield();
    std::vector<std::unique_ptr<http::test::TlsAttacker>> attackers;
    for (const auto& stranger : strangers) {
      attackers.push_back(
          std::make_unique<http::test::TlsAttacker>(http::test::TlsAttacker::Options{}));
      attackers.back()->ShakeHands();
      std::string hello = attackers.back()->Take();
      co_await stranger->Send(std::move(hello), Soon());
    }
    const auto answered = [&] {
      return std::count_if(strangers.begin(), strangers.end(),
                           [](const auto& each) { return each->socket().HasArrivals(); });
    };
    CHECK(answered() == 0);
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE(response.has_value());
    // One in each turn of the event loop, of which a request takes a few.
    CHECK(answered() < kStrangers / 3);
    while (answered() < kStrangers) co_await http::test::Yield();
  });
}

TEST_CASE("server: unfinished bodies lose their memory to a complete one", "[http][server]") {
  const bool chunked = GENERATE(false, true);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_held_bytes = 1'000'000;
  loopback.Run([&]() -> Task<void> {
    std::vector<std::unique_ptr<http::Connection>> slow;
    for (int i = 0; i < 5; ++i) {
      slow.push_back(co_await loopback.Dial());
      co_await slow.back()->Send(AllButOne(400'000), Soon());
    }
    std::string request = chunked
                              ? "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "30d40\r\n" +
                                    std::string(200'000, 'y') + "\r\n0\r\n\r\n"
                              : AllButOne(200'000) + "y";
    for (int i = 0; i < 10; ++i) {
      const auto connection = co_await loopback.Dial();
      co_await connection->Send(request, Soon());
      const std::string answer = co_await ReadUntil(*connection, "y");
      CHECK(Contains(answer, "200 OK"));
    }
    CHECK(loopback.server().stats().held_bytes <= 1'000'000);
    CHECK(loopback.server().stats().no_memory >= 3);
    int told = 0;
    for (const auto& each : slow) {
      const auto received = co_await each->Receive(base::RealClock().Now() + 10ms);
      if (received && Contains(std::string(*received), "429 Too Many Requests")) ++told;
    }
    CHECK(told >= 3);
  });
}

TEST_CASE("server: memory that a handler reports counts instead of the body", "[http][server]") {
  Loopback loopback;
  loopback.options.max_held_bytes = 1'000'000;
  std::vector<std::size_t> held;
  loopback.handler = [&](http::Request request, const http::Peer&,
                         http::ResponseWriter& writer) -> Task<void> {
    const auto look = [&] { held.push_back(loopback.server().stats().held_bytes); };
    look();
    std::string().swap(request.body);
    CHECK(writer.Keep(700'000));
    look();
    CHECK_FALSE(writer.Keep(1'000'000));
    look();
    CHECK(writer.Keep(0));
    look();
    co_await writer.Send(http::Response());
  };
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await connection->Send(AllButOne(300'000) + "x", Soon());
    co_await ReadUntil(*connection, "\r\n\r\n");
    REQUIRE(held.size() == 4);
    CHECK(held[0] - held[3] == 300'000);
    CHECK(held[1] - held[3] == 700'000);
    CHECK(held[2] == held[1]);
  });
}

TEST_CASE("server: a waiting connection holds no request memory", "[http][server]") {
  const Authority authority;
  const bool tls = GENERATE(false, true);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_held_bytes = std::size_t{48} << 10;  // one handshake
  if (tls) loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    if (tls) options.tls.ca_pem = authority.ca.cert_pem;
    std::vector<std::unique_ptr<http::Client>> clients;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(http::NewClient(loopback.io().get_executor(), options).value());
      const auto response = co_await clients.back()->Do(http::Request(), 5s);
      REQUIRE(response.has_value());
      CHECK(response->status == 200);
      co_await http::test::Yield();
      CHECK(loopback.server().stats().held_bytes == 0);
    }
    CHECK(loopback.server().stats().connections == 10);
    CHECK(loopback.server().stats().no_memory == 0);
  });
}

TEST_CASE("server: an unread answer loses its memory to others", "[http][server]") {
  constexpr std::size_t kAnswer = std::size_t{15} << 20;  // more than the kernel's buffers hold
  Loopback loopback;
  std::size_t asked = 0;
  loopback.options.max_held_bytes = std::size_t{40} << 20;
  loopback.handler = [&](const http::Request&, const http::Peer&,
                         http::ResponseWriter& writer) -> Task<void> {
    ++asked;
    http::Response response;
    response.body.assign(kAnswer, 'x');
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    std::vector<std::unique_ptr<http::Connection>> greedy;
    while (greedy.size() < 8) {
      greedy.push_back(co_await loopback.Dial());
      co_await greedy.back()->Send(kGet, Soon());
      while (asked < greedy.size()) co_await http::test::Yield();
      CHECK(loopback.server().stats().held_bytes < 3 * kAnswer);
    }
    CHECK(loopback.server().stats().no_memory == 6);
  });
}

TEST_CASE("server: an idle connection is closed for a new one", "[http][server]") {
  const Authority authority;
  const bool tls = GENERATE(false, true);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_connections = 4;
  if (tls) loopback.options.tls = authority.Serve();
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    if (tls) options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto first = co_await client->Do(http::Request(), 5s);
    REQUIRE(first.has_value());
    std::vector<std::unique_ptr<http::Connection>> silent;
    for (int i = 0; i < 20; ++i) {
      silent.push_back(co_await loopback.Dial());
      co_await http::test::Yield();
    }
    // The kept connection, which still exists, and a new one.
    const auto kept = co_await client->Do(http::Request(), 5s);
    CHECK(kept.has_value());
    client->CloseIdle();
    const auto fresh = co_await client->Do(http::Request(), 5s);
    CHECK(fresh.has_value());
    CHECK(loopback.server().stats().connections <= 4);
    CHECK(loopback.server().stats().crowded >= 16);
  });
}

}  // namespace

}  // namespace server_limits_test
