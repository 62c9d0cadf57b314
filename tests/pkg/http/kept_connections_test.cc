// The connections that a client keeps between requests: how many, how long, and what it does when
// one of them is dead.

#include <catch2/catch.hpp>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/pkg/http/client_fixture.h"

namespace kept_connections_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::Ask;
using http::test::Authority;
using http::test::Connections;
using http::test::Contains;
using http::test::Forward;
using http::test::Get;
using http::test::kLong;
using http::test::Listener;
using http::test::Loopback;
using http::test::NewClient;
using http::test::ReadUntil;
using http::test::Rendezvous;
using http::test::Soon;
using namespace std::chrono_literals;

TEST_CASE("client: the next request uses the kept connection", "[http][client]") {
  Loopback loopback;
  Connections connections;
  loopback.handler = connections.Handler();
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    for (int i = 0; i < 3; ++i) {
      const auto response = co_await client->Do(Ask("POST", "/", "x"), kLong);
      CHECK(response.has_value());
    }
    client->CloseIdle();
    const auto response = co_await client->Do(Get("/"), kLong);
    CHECK(response.has_value());
  });
  REQUIRE(connections.addresses.size() == 4);
  CHECK(connections.addresses[0] == connections.addresses[2]);
  CHECK(connections.addresses[2] != connections.addresses[3]);
}

TEST_CASE("client: an idle connection is not used after its maximum age", "[http][client]") {
  Loopback loopback;
  Connections connections;
  loopback.handler = connections.Handler();
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.idle_timeout = 0ms;
    const auto client = NewClient(loopback, std::move(options));
    for (int i = 0; i < 2; ++i) {
      const auto response = co_await client->Do(Get("/"), kLong);
      CHECK(response.has_value());
    }
  });
  REQUIRE(connections.addresses.size() == 2);
  CHECK(connections.addresses[0] != connections.addresses[1]);
}

// Bursts of requests: each burst uses the connections of the one before.
TEST_CASE("client: as many connections are kept as were used at once", "[http][client]") {
  constexpr int kCrowd = 100;
  Loopback loopback;
  Rendezvous requests{.at_once = kCrowd};
  loopback.handler = requests.Handler();
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    for (int round = 0; round < 5; ++round) {
      base::TaskGroup crowd(loopback.io().get_executor());
      for (int i = 0; i < kCrowd; ++i) {
        crowd.Spawn("write", [&client]() -> Task<void> {
          const auto response = co_await client->Do(Ask("PATCH", "/", "{}"), kLong);
          CHECK(response.has_value());
        });
      }
      co_await crowd.Join();
    }
  });
  CHECK(requests.arrived == 5 * kCrowd);
  CHECK(requests.addresses.size() == kCrowd);
}

TEST_CASE("client: the number of kept connections is bounded", "[http][client]") {
  Loopback loopback;
  Rendezvous requests{.at_once = 8};
  loopback.handler = requests.Handler();
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.max_idle_connections = 5;
    const auto client = NewClient(loopback, std::move(options));
    for (int round = 0; round < 2; ++round) {
      base::TaskGroup crowd(loopback.io().get_executor());
      for (int i = 0; i < 8; ++i) {
        crowd.Spawn("read", [&client]() -> Task<void> {
          const auto response = co_await client->Do(Get("/"), kLong);
          CHECK(response.has_value());
        });
      }
      co_await crowd.Join();
    }
  });
  CHECK(requests.addresses.size() == 8 + 3);
}

TEST_CASE("client: a kept connection that the server closed is noticed", "[http][client]") {
  const std::string method = GENERATE("GET", "POST");
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&]() -> Task<void> {
      for (int i = 0; i < 2; ++i) {
        const auto connection = co_await listener.Accept();
        co_await ReadUntil(*connection, "\r\n\r\n");
        co_await connection->Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Soon());
      }
    });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto first = co_await client->Do(Get("/"), kLong);
    CHECK(first.has_value());
    co_await http::test::Yield();
    const auto second = co_await client->Do(Ask(method, "/"), kLong);
    CHECK(second.has_value());
    co_await server.Join();
  });
}

// Answers a first request, and reads a second one on the same connection without answering it. A
// repeated request is answered.
Task<void> CloseOnSecond(Listener& listener, int& requests) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  auto connection = co_await listener.Accept();
  co_await ReadUntil(*connection, "\r\n\r\n");
  ++requests;
  co_await connection->Send(answer, Soon());
  co_await ReadUntil(*connection, "\r\n\r\n");
  ++requests;
  connection.reset();
  connection = co_await listener.Accept();
  const std::string again = co_await ReadUntil(*connection, "\r\n\r\n");
  if (again.empty()) co_return;
  ++requests;
  co_await connection->Send(answer, Soon());
}

TEST_CASE("client: only a safe request is repeated when its connection dies", "[http][client]") {
  const bool safe = GENERATE(true, false);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  int requests = 0;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&] { return CloseOnSecond(listener, requests); });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto first = co_await client->Do(Get("/"), kLong);
    CHECK(first.has_value());
    const auto second = co_await client->Do(Ask(safe ? "GET" : "DELETE", "/"), kLong);
    CHECK(second.has_value() == safe);
    if (!second) CHECK(second.error().Is(ErrorCode::kUnavailable));
    server.Cancel();
    co_await server.Join();
  });
  CHECK(requests == (safe ? 3 : 2));
}

TEST_CASE("client: a fresh connection that dies is not tried again", "[http][client]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    writer.Abort(false);
    co_return;
  };
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kUnavailable));
    CHECK(Contains(response.error().message, loopback.url().Authority()));
  });
}

TEST_CASE("client: after a silent kept connection the other ones are not used", "[http][client]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    // Each connection is answered once, when two are there, and silent from then on.
    int open = 0;
    const auto serve = [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      ++open;
      while (open < 2) co_await http::test::Yield();
      co_await ReadUntil(*connection, "\r\n\r\n");
      co_await connection->Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Soon());
      base::RealScheduler scheduler(loopback.io().get_executor());
      co_await scheduler.Sleep(1h);
    };
    for (int i = 0; i < 3; ++i) server.Spawn("server", serve);
    const auto client = NewClient(loopback.io(), listener.port());
    base::TaskGroup both(loopback.io().get_executor());
    for (int i = 0; i < 2; ++i) {
      both.Spawn("get", [&]() -> Task<void> {
        const auto response = co_await client->Do(Get("/"), kLong);
        CHECK(response.has_value());
      });
    }
    co_await both.Join();
    const auto silent = co_await client->Do(Ask("PUT", "/", "{}"), 30ms);
    REQUIRE_FALSE(silent.has_value());
    CHECK(silent.error().Is(ErrorCode::kTimeout));
    const auto next = co_await client->Do(Ask("PUT", "/", "{}"), 10s);
    CHECK(next.has_value());
    server.Cancel();
    co_await server.Join();
  });
}

// A load balancer that forgets its connections while a handshake is in progress: the handshake and
// the kept connection are silent, and a connection that is made afterwards is not.
TEST_CASE("client: after a silent handshake the kept connections are not used", "[http][client]") {
  const Authority authority;
  Loopback loopback;
  loopback.options.tls = authority.Serve();
  bool answered = false;
  loopback.handler = [&](http::Request request, http::Peer peer,
                         http::ResponseWriter& writer) -> Task<void> {
    while (request.target == "/slow" && !answered) co_await http::test::Yield();
    co_await http::test::Echo(std::move(request), std::move(peer), writer);
  };
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup relays(loopback.io().get_executor());
    int accepted = 0;
    std::vector<std::unique_ptr<http::Connection>> open;  // silent, but never closed
    const auto relay = [&]() -> Task<void> {
      open.push_back(co_await listener.Accept());
      http::Connection& from = *open.back();
      if (++accepted == 2) co_return;
      open.push_back(co_await loopback.Dial());
      http::Connection& to = *open.back();
      relays.Spawn("there", [&] { return Forward(from, to); });
      co_await Forward(to, from);
    };
    relays.Spawn("forgotten", relay);
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "127.0.0.1", .port = listener.port()};
    options.tls.ca_pem = authority.ca.cert_pem;
    const auto client = NewClient(loopback, std::move(options));
    base::TaskGroup slow(loopback.io().get_executor());
    slow.Spawn("slow", [&]() -> Task<void> {
      const auto response = co_await client->Do(Get("/slow"), kLong);
      CHECK(response.has_value());
    });
    while (accepted < 1) co_await http::test::Yield();
    relays.Spawn("forgotten", relay);
    base::TaskGroup late(loopback.io().get_executor());
    late.Spawn("late", [&]() -> Task<void> {
      const auto response = co_await client->Do(Get("/"), 1s);
      REQUIRE_FALSE(response.has_value());
      CHECK(Contains(response.error().message, "TLS handshake"));
    });
    while (accepted < 2) co_await http::test::Yield();
    answered = true;
    co_await slow.Join();
    // From now on the kept connection is silent.
    relays.Cancel();
    co_await relays.Join();
    co_await late.Join();
    relays.Spawn("new", relay);
    const auto next = co_await client->Do(Get("/"), 10s);
    CHECK(next.has_value());
    CHECK(accepted == 3);
    relays.Cancel();
    co_await relays.Join();
  });
}

}  // namespace
}  // namespace kept_connections_test
