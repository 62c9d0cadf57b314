#include "pkg/http/server.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/scheduler.h"
#include "tests/pkg/http/loopback.h"

namespace server_test {

namespace {

using base::Task;
using http::test::Loopback;
using http::test::ReadUntil;
using http::test::Soon;
using namespace std::chrono_literals;

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}
http::Headers TextHeaders() { return {{"Content-Type", "text/plain"}}; }
http::Response Body(std::string body) { return {.body = std::move(body)}; }
bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Streams "tick\n" once, then waits until it is cancelled.
struct Ticker {
  bool started = false;
  bool cancelled = false;

  Task<void> Serve(http::ResponseWriter& writer, base::asio::any_io_executor executor) {
    co_await base::DeferCancellation();
    co_await writer.Start(200, TextHeaders());
    co_await writer.Write("tick\n");
    started = true;
    base::RealScheduler scheduler(executor);
    co_await scheduler.Sleep(1h);
    cancelled = co_await base::Stopping();
  }
};

TEST_CASE("server: a connection is kept open for the next request", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    for (int i = 0; i < 2; ++i) {
      const std::string target = i == 0 ? "/a" : "/b?c=d";
      co_await connection->Send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
      const std::string answer = co_await ReadUntil(*connection, "GET " + target);
      CHECK(StartsWith(answer, "HTTP/1.1 200 OK\r\n"));
      CHECK_FALSE(Contains(answer, "Connection: close"));
    }
  });
}

TEST_CASE("server: requests sent at once are answered in order", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const std::string answer = co_await loopback.Talk(
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
        "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const auto first = answer.find("GET /1");
    const auto second = answer.find("POST /2 hi");
    const auto third = answer.find("GET /3");
    REQUIRE(third != std::string::npos);
    CHECK(first < second);
    CHECK(second < third);
    CHECK(Contains(answer, "Connection: close\r\n"));
  });
}

TEST_CASE("server: a chunked request body arrives whole", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const std::string answer = co_await loopback.Talk(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
    CHECK(Contains(answer, "POST / abcde"));
  });
}

TEST_CASE("server: a request that comes byte by byte is understood", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    const std::string request =
        "POST /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";
    for (const char c : request) {
      co_await connection->Send(std::string(1, c), Soon());
      co_await http::test::Yield();
    }
    const std::string answer = co_await ReadUntil(*connection, "");
    CHECK(Contains(answer, "POST /slow a0123456789abcdef"));
  });
}

TEST_CASE("server: a client that asks for 100-continue is told to go on", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await connection->Send(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n"
        "Content-Length: 2\r\n\r\n",
        Soon());
    const std::string interim = co_await ReadUntil(*connection, "\r\n\r\n");
    CHECK(interim == "HTTP/1.1 100 Continue\r\n\r\n");
    co_await connection->Send("ok", Soon());
    const std::string answer = co_await ReadUntil(*connection, "");
    CHECK(Contains(answer, "POST / ok"));
  });
}

TEST_CASE("server: HEAD gets the length and no body", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const std::string answer =
        co_await loopback.Talk("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(Contains(answer, "Content-Length: 8\r\n"));
    CHECK(answer.substr(answer.size() - 4) == "\r\n\r\n");
  });
}

TEST_CASE("server: each kind of bad request gets its own answer", "[http][server]") {
  struct Case {
    std::string name, request, status;
  };
  const auto c = GENERATE(
      Case{"no HTTP", "hello\r\n\r\n", "400"},
      Case{"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "400"},
      Case{"length and chunks",
           "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      Case{"an unknown encoding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc", "400"},
      Case{"a bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
      Case{"a large body announced", "POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n", "413"},
      Case{"a large body in chunks", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n",
           "413"},
      Case{"a large header", "GET / HTTP/1.1\r\nA: " + std::string(3000, 'a') + "\r\n\r\n", "431"},
      Case{"a large target", "GET /" + std::string(3000, 'a'), "431"},
      Case{"an endless chunk header",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(200'000, 'a'),
           "431"},
      Case{"half a header", "GET / HTTP/1.1\r\nHost:", "408"},
      Case{"half a body", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab", "408"});
  CAPTURE(c.name);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.max_header_bytes = 2048;
  loopback.options.max_body_bytes = 1024;
  if (c.status == "408") loopback.options.header_timeout = loopback.options.body_timeout = 100ms;
  loopback.Run([&]() -> Task<void> {
    const std::string answer = co_await loopback.Talk(c.request);
    CHECK(StartsWith(answer, "HTTP/1.1 " + c.status + " "));
    CHECK(Contains(answer, "Connection: close\r\n"));
  });
}

TEST_CASE("server: a silent client is closed without an answer", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.header_timeout = 50ms;
  loopback.Run([&]() -> Task<void> {
    const std::string silent = co_await loopback.Talk("");
    CHECK(silent.empty());
  });
}

TEST_CASE("server: an idle client is closed after its answer", "[http][server]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.options.idle_timeout = 50ms;
  loopback.Run([&]() -> Task<void> {
    const std::string idle = co_await loopback.Talk("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(Contains(idle, "200 OK"));
    CHECK_FALSE(Contains(idle, "408"));
  });
}

TEST_CASE("server: a handler that does not answer gives a 500", "[http][server]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter&) -> Task<void> {
    co_return;
  };
  loopback.Run([&]() -> Task<void> {
    const std::string answer =
        co_await loopback.Talk("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(StartsWith(answer, "HTTP/1.1 500 "));
  });
}

TEST_CASE("server: a header value cannot add a header", "[http][server]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.headers.Add("X", "a\r\nSet-Cookie: evil");
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    const std::string answer =
        co_await loopback.Talk("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(Contains(answer, "X: a  Set-Cookie: evil\r\n"));
  });
}

TEST_CASE("server: a stream is flushed by each write and ends cleanly", "[http][server]") {
  Loopback loopback;
  loopback.handler = [](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Start(200, TextHeaders());
    co_await writer.Write("first");
    co_await writer.Write("");
    co_await writer.Write("second, longer");
    co_await writer.Finish();
  };
  loopback.Run([&]() -> Task<void> {
    const std::string chunked =
        co_await loopback.Talk("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(Contains(chunked, "Transfer-Encoding: chunked\r\n"));
    CHECK(Contains(chunked, "\r\n\r\n5\r\nfirst\r\ne\r\nsecond, longer\r\n0\r\n\r\n"));
    const std::string old = co_await loopback.Talk("GET / HTTP/1.0\r\n\r\n");
    CHECK(Contains(old, "\r\n\r\nfirstsecond, longer"));
    CHECK_FALSE(Contains(old, "chunked"));
  });
}

TEST_CASE("server: a streaming handler is cancelled when its client disconnects",
          "[http][server]") {
  Loopback loopback;
  Ticker ticker;
  loopback.handler = [&](const http::Request&, const http::Peer&, http::ResponseWriter& writer) {
    return ticker.Serve(writer, loopback.io().get_executor());
  };
  loopback.Run([&]() -> Task<void> {
    auto connection = co_await loopback.Dial();
    co_await connection->Send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    co_await ReadUntil(*connection, "tick\n");
    connection.reset();
    while (!ticker.cancelled) co_await http::test::Yield();
  });
  CHECK(ticker.cancelled);
}

TEST_CASE("server: stopping ends streams at once and lets answers finish", "[http][server]") {
  Loopback loopback;
  Ticker ticker;
  bool slow_asked = false;
  bool stopping = false;
  loopback.handler = [&](http::Request request, http::Peer,
                         http::ResponseWriter& writer) -> Task<void> {
    if (request.target == "/watch") {
      co_await ticker.Serve(writer, loopback.io().get_executor());
      co_return;
    }
    slow_asked = true;
    while (!stopping) co_await http::test::Yield();
    co_await writer.Send(Body("slow answer"));
  };
  loopback.Run([&]() -> Task<void> {
    const auto idle = co_await loopback.Dial();
    const auto watch = co_await loopback.Dial();
    const auto slow = co_await loopback.Dial();
    co_await watch->Send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    co_await ReadUntil(*watch, "tick\n");
    co_await slow->Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    while (!slow_asked) co_await http::test::Yield();

    loopback.server().Stop(10s);

    const std::string nothing = co_await ReadUntil(*idle, "");
    CHECK(nothing.empty());
    co_await ReadUntil(*watch, "");
    CHECK(ticker.cancelled);
    stopping = true;
    const std::string answer = co_await ReadUntil(*slow, "");
    CHECK(Contains(answer, "slow answer"));
    CHECK(Contains(answer, "Connection: close\r\n"));
  });
}

TEST_CASE("server: requests that take longer than the grace are aborted", "[http][server]") {
  Loopback loopback;
  bool cancelled = false;
  bool asked = false;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter&) -> Task<void> {
    co_await base::DeferCancellation();
    asked = true;
    base::RealScheduler scheduler(loopback.io().get_executor());
    co_await scheduler.Sleep(1h);
    cancelled = co_await base::Stopping();
  };
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await connection->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    while (!asked) co_await http::test::Yield();
    loopback.server().Stop(50ms);
    const std::string answer = co_await ReadUntil(*connection, "");
    CHECK(answer.empty());
  });
  CHECK(cancelled);
}

TEST_CASE("server: at the bound on connections it accepts a new one once another is idle",
          "[http][server]") {
  Loopback loopback;
  bool first_asked = false;
  bool may_answer = false;
  loopback.handler = [&](http::Request request, http::Peer peer,
                         http::ResponseWriter& writer) -> Task<void> {
    const bool first = request.target == "/1";
    first_asked = first_asked || first;
    while (first && !may_answer) co_await http::test::Yield();
    co_await http::test::Echo(std::move(request), std::move(peer), writer);
  };
  loopback.options.max_connections = 1;
  loopback.Run([&]() -> Task<void> {
    auto first = co_await loopback.Dial();
    co_await first->Send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    while (!first_asked) co_await http::test::Yield();
    const auto second = co_await loopback.Dial();  // waits in the backlog
    co_await second->Send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    const auto early = co_await second->Receive(base::RealClock().Now() + 50ms);
    REQUIRE_FALSE(early.has_value());
    CHECK(early.error().Is(base::ErrorCode::kTimeout));
    may_answer = true;
    const std::string first_answer = co_await ReadUntil(*first, "GET /1");
    CHECK(Contains(first_answer, "200 OK"));
    // The first connection is idle now, so the server closes it for the second one.
    const std::string answer = co_await ReadUntil(*second, "GET /2");
    CHECK(Contains(answer, "200 OK"));
    const std::string rest = co_await ReadUntil(*first, "");
    CHECK(rest.empty());
  });
}

TEST_CASE("server: a client that does not read is disconnected after the write timeout",
          "[http][server]") {
  Loopback loopback;
  base::ErrorCode outcome = base::ErrorCode::kInternal;
  bool done = false;
  loopback.options.write_timeout = 50ms;
  loopback.handler = [&](const http::Request&, const http::Peer&,
                         http::ResponseWriter& writer) -> Task<void> {
    const auto sent = co_await writer.Send(Body(std::string(64 << 20, 'x')));
    if (!sent) outcome = sent.error().code;
    done = true;
  };
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await connection->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    while (!done) co_await http::test::Yield();
  });
  CHECK(outcome == base::ErrorCode::kTimeout);
}

TEST_CASE("server: an abort is seen as a reset or as an early end", "[http][server]") {
  const bool reset = GENERATE(true, false);
  Loopback loopback;
  loopback.handler = [&](const http::Request&, const http::Peer&,
                         http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Start(200, TextHeaders());
    co_await writer.Write("half");
    writer.Abort(reset);
    const auto late = co_await writer.Write("more");
    CHECK_FALSE(late.has_value());
  };
  loopback.Run([&]() -> Task<void> {
    const auto connection = co_await loopback.Dial();
    co_await connection->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", Soon());
    for (;;) {
      const auto received = co_await connection->Receive(Soon());
      if (received && !received->empty()) continue;
      CHECK(received.has_value() != reset);
      break;
    }
  });
}

TEST_CASE("server: invalid addresses and certificates are errors", "[http][server]") {
  base::asio::io_context io;
  const auto error = [&](http::ServerOptions options) {
    return http::NewServer(io.get_executor(), std::move(options), http::test::Echo).error();
  };
  CHECK(error({.address = "nonsense"}).code == base::ErrorCode::kInvalidArgument);
  CHECK(error({.tls = http::ServerTls{"no", "pem"}}).message ==
        "server certificate: no PEM certificate found");

  const auto first = http::NewServer(io.get_executor(), {}, http::test::Echo);
  REQUIRE(first.has_value());
  const auto second = error({.port = (*first)->port()});
  CHECK(second.code == base::ErrorCode::kUnavailable);
  CHECK(Contains(second.message, "127.0.0.1:" + std::to_string((*first)->port())));
}

TEST_CASE("server: an empty address means every address", "[http][server]") {
  Loopback loopback;
  loopback.options.address = "";
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    const std::string answer =
        co_await loopback.Talk("GET /any HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(Contains(answer, "GET /any"));
  });
}

}  // namespace

}  // namespace server_test
