// How a server sends the answers that wait so that their client keeps its connections
// (pkg/http/idle_limit.h).

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "pkg/http/server.h"
#include "tests/pkg/http/loopback.h"

namespace waiting_answers_test {

namespace {

using base::Task;
using http::test::kLong;
using http::test::Loopback;
using http::test::ReadUntil;
using http::test::Soon;
using http::test::Yield;
using namespace std::chrono_literals;

constexpr std::size_t kAnswer = 60'000;  // bytes
const std::string kEnd = "the end";

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string Post(std::size_t bytes) {
  return "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
         std::string(bytes, 'x');
}

// A server that keeps one idle connection of an address. The others wait until a connection leaves,
// however slowly the test runs: no test lasts an hour.
struct Waits {
  Waits() {
    loopback.options.idle = {.most = 1, .longest_wait = 1h, .quiet = 1h, .lately = 2h};
    loopback.handler = [this](const http::Request&, const http::Peer&,
                              http::ResponseWriter& writer) -> Task<void> {
      ++asked;
      http::Response response;
      response.body = std::string(kAnswer - kEnd.size(), '.') + kEnd;
      co_await writer.Send(std::move(response));
      ++answered;
    };
  }
  // Returns when the server has sent the answer, or lets it wait.
  Task<void> Ask(http::Connection& connection, std::string request) {
    const int before = asked;
    co_await connection.Send(std::move(request), Soon());
    while (asked == before) co_await Yield();
    co_await Settle();
  }
  // A client may read the end of an answer before the server knows that it is sent.
  static Task<void> Settle() {
    for (int i = 0; i < 100; ++i) co_await Yield();
  }
  // A connection that the server has answered, so it is idle.
  Task<std::unique_ptr<http::Connection>> Idle() {
    auto connection = co_await loopback.Dial();
    co_await Ask(*connection, Post(0));
    co_await ReadUntil(*connection, kEnd);
    co_await Settle();
    co_return connection;
  }
  // Two connections: the first one is idle, and the answer to a request of the second one waits.
  struct Two {
    std::unique_ptr<http::Connection> idle;
    std::unique_ptr<http::Connection> waiting;
  };
  Task<Two> OneWaits(std::size_t bytes) {
    Two two;
    two.idle = co_await Idle();
    CHECK(held() == 0);
    two.waiting = co_await loopback.Dial();
    co_await Ask(*two.waiting, Post(bytes));
    CHECK(answered == 1);
    co_return two;
  }
  [[nodiscard]] std::size_t held() { return loopback.server().stats().held_bytes; }

  Loopback loopback;
  int asked = 0;
  int answered = 0;
};

TEST_CASE("server: an answer beyond the idle bound waits for a request of its address",
          "[http][server]") {
  Waits server;
  server.loopback.Run([&]() -> Task<void> {
    const auto two = co_await server.OneWaits(0);
    co_await server.Ask(*two.idle, Post(0));
    const std::string answer = co_await ReadUntil(*two.waiting, kEnd);
    CHECK(Contains(answer, "200 OK"));
    CHECK_FALSE(Contains(answer, "Connection: close"));
    co_await Waits::Settle();
    CHECK(server.answered == 2);
    two.waiting->Close();
    const std::string last = co_await ReadUntil(*two.idle, kEnd);
    CHECK(Contains(last, "200 OK"));
  });
}

TEST_CASE("server: an answer that waits when the server stops says Connection: close",
          "[http][server]") {
  Waits server;
  server.loopback.Run([&]() -> Task<void> {
    const auto two = co_await server.OneWaits(0);
    server.loopback.server().Stop(kLong);
    const std::string nothing = co_await ReadUntil(*two.idle, "");
    CHECK(nothing.empty());
    const std::string answer = co_await ReadUntil(*two.waiting, "");
    CHECK(Contains(answer, "200 OK"));
    CHECK(Contains(answer, "Connection: close\r\n"));
    CHECK(answer.ends_with(kEnd));
  });
}

TEST_CASE("server: an answer that waits holds its own bytes and no others, and keeps them",
          "[http][server]") {
  constexpr std::size_t kHeaders = 1'000;  // at most
  Waits server;
  server.loopback.options.max_held_bytes = 100'000;
  server.loopback.Run([&]() -> Task<void> {
    const auto two = co_await server.OneWaits(30'000);
    CHECK(server.held() >= kAnswer);
    CHECK(server.held() <= kAnswer + kHeaders);
    const std::string refused = co_await server.loopback.Talk(Post(60'000));
    CHECK(Contains(refused, "429"));
    CHECK(server.held() >= kAnswer);
    two.idle->Close();
    const std::string answer = co_await ReadUntil(*two.waiting, kEnd);
    CHECK(Contains(answer, "200 OK"));
    co_await Waits::Settle();
    CHECK(server.held() == 0);
  });
}

}  // namespace
}  // namespace waiting_answers_test
