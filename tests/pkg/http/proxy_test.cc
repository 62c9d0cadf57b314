#include "pkg/http/proxy.h"

#include <boost/asio/ip/address.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/pkg/http/loopback.h"

namespace proxy_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::Authority;
using http::test::kLong;
using http::test::Listener;
using http::test::Loopback;
using http::test::ReadUntil;
using http::test::Relay;
using http::test::Soon;
using namespace std::chrono_literals;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A proxy for one connection, which remembers what it received.
struct FakeProxy {
  explicit FakeProxy(Loopback& to) : loopback(to), listener(to.io()) {}

  Loopback& loopback;
  Listener listener;
  std::shared_ptr<const http::TlsContext> tls;  // speaks TLS itself
  std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  std::string heard;

  Task<std::unique_ptr<http::Connection>> Accept() {
    auto connection = co_await listener.Accept();
    if (tls) {
      std::shared_ptr<http::TlsStream> stream =
          http::TlsStream::Server(tls, connection->stream(), "client");
      const auto done = co_await connection->StartTls(std::move(stream), Soon());
      REQUIRE(done.has_value());
    }
    co_return connection;
  }

  Task<void> ServeHttp() {
    const auto client = co_await Accept();
    heard = co_await ReadUntil(*client, "\r\n\r\n");
    co_await client->Send(answer, Soon());
    if (!Contains(answer, " 200 ")) co_return;
    const auto server = co_await loopback.Dial();
    co_await Relay(*client, *server);
  }

  http::Url url(const std::string& scheme) const {
    return {.scheme = scheme, .host = "127.0.0.1", .port = listener.port()};
  }
};

// Reads exactly the bytes of one SOCKS5 step.
Task<std::string> ReadBytes(http::Connection& connection, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    const auto received = co_await connection.Receive(Soon());
    if (!received || received->empty()) break;
    bytes.append(*received);
  }
  co_return bytes;
}

template <typename... Values>
std::string Bytes(Values... values) {
  return {static_cast<char>(values)...};
}

std::unique_ptr<http::Client> NewClient(Loopback& loopback, http::Url proxy,
                                        const std::string& ca = "") {
  http::ClientOptions options;
  options.server = loopback.url();
  options.proxy = std::move(proxy);
  options.tls.ca_pem = ca;
  return http::NewClient(loopback.io().get_executor(), std::move(options)).value();
}

TEST_CASE("proxy: TLS goes through an http or https proxy by CONNECT", "[http][proxy]") {
  const std::string scheme = GENERATE("http", "https");
  const Authority authority;
  Loopback loopback;
  loopback.options.tls = authority.Serve();
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    FakeProxy proxy(loopback);
    if (scheme == "https") proxy.tls = http::TlsContext::ForServer(authority.Serve()).value();
    base::TaskGroup tasks(loopback.io().get_executor());
    tasks.Spawn("proxy", [&] { return proxy.ServeHttp(); });
    http::Url url = proxy.url(scheme);
    url.username = "user";
    url.password = "secret";
    auto client = NewClient(loopback, url, authority.ca.cert_pem);
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE(response.has_value());
    CHECK(response->body == "GET / ");
    client->CloseIdle();
    co_await tasks.Join();
    const std::string server = loopback.url().Authority();
    CHECK(Contains(proxy.heard, "CONNECT " + server + " HTTP/1.1\r\n"));
    CHECK(Contains(proxy.heard, "Host: " + server + "\r\n"));
    CHECK(Contains(proxy.heard, "Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"));
  });
}

TEST_CASE("proxy: the error for a refusal names proxy, server and status", "[http][proxy]") {
  const Authority authority;
  Loopback loopback;
  loopback.options.tls = authority.Serve();
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    FakeProxy proxy(loopback);
    proxy.answer = "HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n";
    base::TaskGroup tasks(loopback.io().get_executor());
    tasks.Spawn("proxy", [&] { return proxy.ServeHttp(); });
    const auto client = NewClient(loopback, proxy.url("http"), authority.ca.cert_pem);
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kUnavailable));
    CHECK(response.error().message == "proxy " + proxy.url("http").Authority() + " to " +
                                          loopback.url().Authority() +
                                          ": refused, 407 Proxy Authentication Required");
    co_await tasks.Join();
  });
}

TEST_CASE("proxy: a plain request is sent to an http proxy with the full URL", "[http][proxy]") {
  Loopback proxy;  // an http proxy is a server that gets whole URLs
  http::Request seen;
  proxy.handler = [&](http::Request request, http::Peer,
                      http::ResponseWriter& writer) -> Task<void> {
    seen = std::move(request);
    co_await writer.Send(http::Response());
  };
  const bool own_port = GENERATE(true, false);
  proxy.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = {.scheme = "http", .host = "api.example.test", .port = 8080};
    if (!own_port) options.server.port = 80;
    options.proxy = proxy.url();
    options.proxy->username = "user";
    const auto client = http::NewClient(proxy.io().get_executor(), options).value();
    http::Request request;
    request.target = "/api";
    const auto response = co_await client->Do(std::move(request), kLong);
    CHECK(response.has_value());
  });
  const std::string port = own_port ? "8080" : "80";
  CHECK(seen.target == "http://api.example.test:" + port + "/api");
  CHECK(seen.headers.Get("Host") == (own_port ? "api.example.test:8080" : "api.example.test"));
  CHECK(seen.headers.Get("Proxy-Authorization") == "Basic dXNlcjo=");
}

TEST_CASE("proxy: SOCKS5 works with a password, and the proxy resolves the name", "[http][proxy]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  std::string heard;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup tasks(loopback.io().get_executor());
    const std::string port = Bytes(loopback.port() >> 8, loopback.port() & 0xff);
    const std::string name_request = Bytes(5, 1, 0, 3, 9) + "localhost" + port;
    tasks.Spawn("proxy", [&]() -> Task<void> {
      const auto client = co_await listener.Accept();
      heard += co_await ReadBytes(*client, 4);
      co_await client->Send(Bytes(5, 2), Soon());
      heard += co_await ReadBytes(*client, 13);
      co_await client->Send(Bytes(1, 0), Soon());
      heard += co_await ReadBytes(*client, name_request.size());
      co_await client->Send(Bytes(5, 0, 0, 1, 127, 0, 0, 1, 1, 2), Soon());
      const auto server = co_await loopback.Dial();
      co_await Relay(*client, *server);
    });
    http::ClientOptions options;
    options.server = loopback.url("localhost");
    options.proxy = {.scheme = "socks5", .host = "127.0.0.1", .port = listener.port()};
    options.proxy->username = "user";
    options.proxy->password = "secret";
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE(response.has_value());
    CHECK(response->body == "GET / ");
    client->CloseIdle();
    co_await tasks.Join();
    const std::string login = Bytes(1, 4) + "user" + Bytes(6) + "secret";
    CHECK(heard == Bytes(5, 2, 0, 2) + login + name_request);
  });
}

TEST_CASE("proxy: the refusal of a SOCKS5 proxy is in the error", "[http][proxy]") {
  struct Case {
    std::string name, first, second, reason;
  };
  const auto c = GENERATE(
      Case{"connection refused", Bytes(5, 0), Bytes(5, 5, 0, 1, 0, 0, 0, 0, 0, 0),
           "connection refused"},
      Case{"an unknown code", Bytes(5, 0), Bytes(5, 99, 0, 1, 0, 0, 0, 0, 0, 0), "unknown failure"},
      Case{"no method of ours", Bytes(5, 255), "", "none of our authentication methods"},
      Case{"not SOCKS5", "HTTP", "", "does not speak SOCKS5"});
  CAPTURE(c.name);
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    Listener listener(loopback.io());
    base::TaskGroup tasks(loopback.io().get_executor());
    tasks.Spawn("proxy", [&]() -> Task<void> {
      const auto client = co_await listener.Accept();
      co_await ReadBytes(*client, 3);
      co_await client->Send(c.first, Soon());
      co_await ReadBytes(*client, 10);
      co_await client->Send(c.second, Soon());
    });
    http::ClientOptions options;
    options.server = loopback.url();
    options.proxy = {.scheme = "socks5", .host = "127.0.0.1", .port = listener.port()};
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kUnavailable));
    CHECK(Contains(response.error().message, c.reason));
    CHECK(Contains(response.error().message, loopback.url().Authority()));
    co_await tasks.Join();
  });
}

}  // namespace

}  // namespace proxy_test
