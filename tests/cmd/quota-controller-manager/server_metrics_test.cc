#include "cmd/quota-controller-manager/server_metrics.h"

#include <catch2/catch.hpp>

namespace server_metrics_test {
namespace {

using Catch::Matchers::Contains;

class FakeServer final : public http::Server {
 public:
  [[nodiscard]] std::uint16_t port() const override { return 0; }
  [[nodiscard]] http::ServerStats stats() const override { return now; }
  base::Task<void> Run() override { co_return; }
  void Drain(bool) override {}
  void Stop(std::chrono::milliseconds) override {}
  base::Result<void> SetTls(http::ServerTls) override { return {}; }
  http::ServerStats now;
};

}  // namespace

TEST_CASE("server metrics: each scrape reads the server's memory, connections and refusals",
          "[manager]") {
  metrics::Registry registry;
  FakeServer server;
  manager::ExposeServer(registry, "admission", server);
  server.now.connections = 3;
  server.now.held_bytes = 70;
  server.now.crowded = 2;
  CHECK_THAT(registry.Expose(), Contains("http_server_connections{server=\"admission\"} 3\n") &&
                                    Contains("http_server_held_bytes{server=\"admission\"} 70\n"));
  server.now.connections = 1;
  server.now.crowded = 5;
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("http_server_connections{server=\"admission\"} 1\n"));
  CHECK_THAT(text,
             Contains("http_server_turned_away_total{reason=\"crowded\",server=\"admission\"} "
                      "5\n"));
}

}  // namespace server_metrics_test
