#pragma once

// TEST ONLY. Requests and clients for tests of http::Client.

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/http/client.h"
#include "tests/pkg/http/loopback.h"

namespace http::test {

inline Request Ask(std::string method, std::string target, std::string body = "") {
  return {.method = std::move(method), .target = std::move(target), .body = std::move(body)};
}
inline Request Get(std::string target) { return Ask("GET", std::move(target)); }
inline Headers TextHeaders() { return {{"Content-Type", "text/plain"}}; }
inline Response Body(std::string body) { return {.body = std::move(body)}; }

inline std::unique_ptr<Client> NewClient(Loopback& loopback, ClientOptions options = {}) {
  if (options.server.scheme.empty()) options.server = loopback.url();
  return http::NewClient(loopback.io().get_executor(), std::move(options)).value();
}
inline std::unique_ptr<Client> NewClient(base::asio::io_context& io, std::uint16_t port) {
  ClientOptions options;
  options.server = {.scheme = "http", .host = "127.0.0.1", .port = port};
  return http::NewClient(io.get_executor(), std::move(options)).value();
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Remembers the connection of each request.
struct Connections {
  std::vector<std::string> addresses;
  http::Handler Handler() {
    return [this](Request request, Peer peer, ResponseWriter& writer) -> base::Task<void> {
      addresses.push_back(peer.address);
      co_await Echo(std::move(request), std::move(peer), writer);
    };
  }
};

// Answers requests only when so many have arrived, and remembers their connections.
struct Rendezvous {
  int at_once = 1;
  int arrived = 0;
  std::set<std::string> addresses = {};
  http::Handler Handler() {
    return [this](Request request, Peer peer, ResponseWriter& writer) -> base::Task<void> {
      addresses.insert(peer.address);
      ++arrived;
      while (arrived % at_once != 0) co_await Yield();
      co_await Echo(std::move(request), std::move(peer), writer);
    };
  }
};

}  // namespace http::test
