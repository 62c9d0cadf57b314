#include "pkg/http/client.h"

#include <boost/asio/ip/address.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/pkg/http/client_fixture.h"

namespace client_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::Ask;
using http::test::Body;
using http::test::Connections;
using http::test::Contains;
using http::test::Get;
using http::test::kLong;
using http::test::Listener;
using http::test::Loopback;
using http::test::NewClient;
using http::test::ReadUntil;
using http::test::Soon;
using http::test::TextHeaders;
using namespace std::chrono_literals;

TEST_CASE("client: a request is sent unchanged, and the answer is returned", "[http][client]") {
  Loopback loopback;
  http::Request seen;
  std::string authority;
  loopback.handler = [&](http::Request request, http::Peer,
                         http::ResponseWriter& writer) -> Task<void> {
    seen = std::move(request);
    http::Response response;
    response.status = 201;
    response.headers.Add("X-Answer", "yes");
    response.body = "made";
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    authority = loopback.url().Authority();
    const auto client = NewClient(loopback);
    http::Request request = Ask("POST", "/api/v1/pods?dryRun=All", "{}");
    request.headers.Add("Content-Type", "application/json");
    const auto response = co_await client->Do(std::move(request), kLong);
    REQUIRE(response.has_value());
    CHECK(response->status == 201);
    CHECK(response->headers.Get("x-answer") == "yes");
    CHECK(response->body == "made");
  });
  CHECK(seen.method == "POST");
  CHECK(seen.target == "/api/v1/pods?dryRun=All");
  CHECK(seen.body == "{}");
  CHECK(seen.headers.Get("Content-Type") == "application/json");
  CHECK(seen.headers.Get("Host") == authority);
  CHECK(seen.headers.Get("Accept-Encoding") == "gzip");
}

TEST_CASE("client: a request to a silent server ends at the deadline", "[http][client]") {
  Loopback loopback;
  loopback.handler = [&](http::Request request, http::Peer,
                         http::ResponseWriter& writer) -> Task<void> {
    if (request.target == "/half") {
      co_await writer.Start(200, TextHeaders());
      co_await writer.Write("half");
    }
    base::RealScheduler scheduler(loopback.io().get_executor());
    co_await scheduler.Sleep(1h);
  };
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    for (int i = 0; i < 2; ++i) {
      const auto response = co_await client->Do(Get(i == 0 ? "/" : "/half"), 30ms);
      REQUIRE_FALSE(response.has_value());
      CHECK(response.error().Is(ErrorCode::kTimeout));
      CHECK(Contains(response.error().message, "no whole answer within 30ms"));
      CHECK(Contains(response.error().message, loopback.url().Authority()));
    }
    auto stream = co_await client->Open(Get("/half"), false, kLong);
    REQUIRE(stream.has_value());
    const auto first = co_await stream->body->Read(kLong);
    CHECK(first.value() == "half");
    const auto second = co_await stream->body->Read(30ms);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().Is(ErrorCode::kTimeout));
  });
}

TEST_CASE("client: a cancelled request returns at once and closes its connection",
          "[http][client]") {
  Loopback loopback;
  bool streaming = false;
  bool gone = false;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await base::DeferCancellation();
    co_await writer.Start(200, TextHeaders());
    streaming = true;
    base::RealScheduler scheduler(loopback.io().get_executor());
    co_await scheduler.Sleep(1h);
    gone = co_await base::Stopping();
  };
  ErrorCode outcome = ErrorCode::kInternal;
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    base::TaskGroup tasks(loopback.io().get_executor());
    tasks.Spawn("request", [&]() -> Task<void> {
      const auto response = co_await client->Do(Get("/"), kLong);
      outcome = response.error().code;
    });
    while (!streaming) co_await http::test::Yield();
    tasks.Cancel();
    co_await tasks.Join();
    while (!gone) co_await http::test::Yield();
  });
  CHECK(outcome == ErrorCode::kCancelled);
}

TEST_CASE("client: a stream is read as it arrives, then its connection is kept", "[http][client]") {
  Loopback loopback;
  Connections connections;
  const auto echo = connections.Handler();
  bool go_on = false;
  loopback.handler = [&](http::Request request, http::Peer peer,
                         http::ResponseWriter& writer) -> Task<void> {
    if (request.target != "/watch") {
      co_await echo(std::move(request), std::move(peer), writer);
      co_return;
    }
    connections.addresses.push_back(peer.address);
    co_await writer.Start(200, TextHeaders());
    co_await writer.Write("{\"type\":");
    while (!go_on) co_await http::test::Yield();
    co_await writer.Write("\"ADDED\"}\n");
    co_await writer.Finish();
  };
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    auto stream = co_await client->Open(Get("/watch"), false, kLong);
    REQUIRE(stream.has_value());
    CHECK(stream->status == 200);
    CHECK(stream->headers.Get("Content-Type") == "text/plain");
    const auto first = co_await stream->body->Read(kLong);
    CHECK(first.value() == "{\"type\":");
    go_on = true;
    const auto second = co_await stream->body->Read(kLong);
    CHECK(second.value() == "\"ADDED\"}\n");
    for (int i = 0; i < 2; ++i) {
      const auto end = co_await stream->body->Read(kLong);
      REQUIRE(end.has_value());
      CHECK_FALSE(end->has_value());
    }
    const auto next = co_await client->Do(Get("/"), kLong);
    CHECK(next.has_value());
  });
  REQUIRE(connections.addresses.size() == 2);
  CHECK(connections.addresses[0] == connections.addresses[1]);
}

TEST_CASE("client: a body that ends too early is an error", "[http][client]") {
  const std::string head =
      GENERATE("Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      co_await ReadUntil(*connection, "\r\n\r\n");
      co_await connection->Send("HTTP/1.1 200 OK\r\n" + head, Soon());
    });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kUnavailable));
    CHECK(Contains(response.error().message, "closed in mid-body"));
    co_await server.Join();
  });
}

TEST_CASE("client: unusual but valid answers are understood", "[http][client]") {
  struct Case {
    std::string name, answer, body;
  };
  const auto c =
      GENERATE(Case{"until the end", "HTTP/1.1 200 OK\r\n\r\nto the end", "to the end"},
               Case{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold", "old"},
               Case{"after interim answers",
                    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfinal",
                    "final"});
  CAPTURE(c.name);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      co_await ReadUntil(*connection, "\r\n\r\n");
      co_await connection->Send(c.answer, Soon());
    });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE(response.has_value());
    CHECK(response->status == 200);
    CHECK(response->body == c.body);
    co_await server.Join();
  });
}

TEST_CASE("client: interim answers without end are malformed", "[http][client]") {
  const int most = GENERATE(10, 11);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      co_await ReadUntil(*connection, "\r\n\r\n");
      std::string answer;
      for (int i = 0; i < most; ++i) answer += "HTTP/1.1 100 Continue\r\n\r\n";
      answer += "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
      co_await connection->Send(std::move(answer), Soon());
    });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto response = co_await client->Do(Get("/"), kLong);
    CHECK(response.has_value() == (most == 10));
    if (!response) CHECK(response.error().Is(ErrorCode::kMalformed));
    co_await server.Join();
  });
}

TEST_CASE("client: an answer that is not HTTP is malformed", "[http][client]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup server(loopback.io().get_executor());
    server.Spawn("server", [&]() -> Task<void> {
      const auto connection = co_await listener.Accept();
      co_await ReadUntil(*connection, "\r\n\r\n");
      co_await connection->Send("SSH-2.0-OpenSSH_9.2\r\n\r\n", Soon());
    });
    const auto client = NewClient(loopback.io(), listener.port());
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kMalformed));
    CHECK(response.error().http_status == 0);
    CHECK(Contains(response.error().message, "127.0.0.1:" + std::to_string(listener.port())));
    co_await server.Join();
  });
}

TEST_CASE("client: HEAD does not wait for a body", "[http][client]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    const auto response = co_await client->Do(Ask("HEAD", "/"), kLong);
    REQUIRE(response.has_value());
    CHECK(response->headers.Get("Content-Length") == "7");
    CHECK(response->body.empty());
  });
}

TEST_CASE("client: a body above the bound is refused", "[http][client]") {
  Loopback loopback;
  loopback.handler = [](http::Request request, http::Peer,
                        http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Send(Body(std::string(request.target == "/fits" ? 1000 : 1001, 'x')));
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.max_body_bytes = 1000;
    const auto client = NewClient(loopback, std::move(options));
    const auto fits = co_await client->Do(Get("/fits"), kLong);
    REQUIRE(fits.has_value());
    CHECK(fits->body.size() == 1000);
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kTooLarge));
  });
}

TEST_CASE("client: a request may allow a larger or a smaller answer", "[http][client]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Send(Body(std::string(1000, 'x')));
  };
  loopback.Run([&]() -> Task<void> {
    for (const std::size_t most : {std::size_t{999}, std::size_t{1000}}) {
      http::ClientOptions options;
      options.max_body_bytes = 1999 - most;
      const auto client = NewClient(loopback, std::move(options));
      auto request = Get("/");
      request.max_answer_bytes = most;
      const auto response = co_await client->Do(std::move(request), kLong);
      CHECK(response.has_value() == (most == 1000));
    }
  });
}

TEST_CASE("client: a long refusal is cut", "[http][client]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Start(503, {});
    for (bool open = true; open;) {
      const auto written = co_await writer.Write("down " + std::string(100'000, 'x'));
      open = written.has_value();
    }
  };
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    const auto response = co_await client->Do(Get("/"), kLong);
    REQUIRE(response.has_value());
    CHECK(response->status == 503);
    CHECK(response->body.size() == std::size_t{256} << 10);
    CHECK(response->body.starts_with("down "));
  });
}

TEST_CASE("client: answers in progress have a bound together", "[http][client]") {
  constexpr std::size_t kEach = 400'000;
  Loopback loopback;
  std::size_t asked = 0;
  bool finish = false;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    ++asked;
    co_await writer.Start(200, {});
    co_await writer.Write(std::string(kEach, 'x'));
    while (!finish) co_await http::test::Yield();
    co_await writer.Finish();
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.max_held_bytes = 2 * kEach + 1;
    const auto client = NewClient(loopback, std::move(options));
    std::vector<base::Result<http::Response>> answers;
    base::TaskGroup tasks(loopback.io().get_executor());
    for (int i = 0; i < 3; ++i) {
      tasks.Spawn("ask",
                  [&]() -> Task<void> { answers.push_back(co_await client->Do(Get("/"), kLong)); });
    }
    while (answers.empty()) co_await http::test::Yield();
    REQUIRE_FALSE(answers[0].has_value());
    CHECK(answers[0].error().Is(ErrorCode::kUnavailable));
    finish = true;
    co_await tasks.Join();
    REQUIRE(answers.size() == 3);
    CHECK((answers[1].has_value() && answers[2].has_value()));
    // What was held is free again.
    for (int i = 0; i < 5; ++i) {
      const auto later = co_await client->Do(Get("/"), kLong);
      CHECK(later.has_value());
    }
  });
}

TEST_CASE("client: large bodies arrive whole in both directions", "[http][client]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  std::string large;
  while (large.size() < (std::size_t{5} << 20)) large += std::to_string(large.size()) + " ";
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    const auto response = co_await client->Do(Ask("PUT", "/", large), kLong);
    REQUIRE(response.has_value());
    CHECK(response->body == "PUT / " + large);
  });
}

TEST_CASE("client: a refusal of a large body is read", "[http][client]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_body_bytes = 1000;
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback);
    const auto response = co_await client->Do(Ask("POST", "/", std::string(3 << 20, 'x')), kLong);
    REQUIRE(response.has_value());
    CHECK(response->status == 413);
  });
}

TEST_CASE("client: the error for an absent server is kUnavailable and names it", "[http][client]") {
  base::asio::io_context io;
  std::uint16_t port = 0;
  { port = Listener(io).port(); }
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback.io(), port);
    const auto refused = co_await client->Do(Get("/"), kLong);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().Is(ErrorCode::kUnavailable));
    CHECK(refused.error().message ==
          "connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");

    http::ClientOptions options;
    options.server = {.scheme = "http", .host = std::string(300, 'a'), .port = 1};
    const auto nowhere = NewClient(loopback, std::move(options));
    const auto unknown = co_await nowhere->Do(Get("/"), kLong);
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().Is(ErrorCode::kUnavailable));
    CHECK(Contains(unknown.error().message, "look up " + std::string(300, 'a') + ":1: "));
  });
}

TEST_CASE("client: all addresses of a name are tried until one answers", "[http][client]") {
  Loopback loopback;  // listens only on 127.0.0.1, but localhost is often ::1 first
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url("localhost");
    const auto client = NewClient(loopback, std::move(options));
    const auto response = co_await client->Do(Get("/"), kLong);
    CHECK(response.has_value());
  });
}

TEST_CASE("client: a URL with another scheme is an error", "[http][client]") {
  base::asio::io_context io;
  http::ClientOptions options;
  options.server = {.scheme = "socks5", .host = "x", .port = 1};
  const auto client = http::NewClient(io.get_executor(), options);
  REQUIRE_FALSE(client.has_value());
  CHECK(client.error().Is(ErrorCode::kInvalidArgument));
}

}  // namespace

}  // namespace client_test
