#include "cmd/quota-controller-manager/server_metrics.h"

#include <utility>
#include <vector>

namespace manager {
namespace {

// A number that the server counts up, and the counter that exports it.
struct TurnedAway {
  std::uint64_t http::ServerStats::*number;
  metrics::Counter counter;
};

}  // namespace

void ExposeServer(metrics::Registry& registry, const std::string& name,
                  const http::Server& server) {
  const metrics::Labels labels{{"server", name}};
  const metrics::Gauge connections =
      registry.NewGauge("http_server_connections", "Open connections.", labels);
  const metrics::Gauge held_bytes = registry.NewGauge(
      "http_server_held_bytes", "Bytes held for current requests and answers.", labels);
  using Stats = http::ServerStats;
  std::vector<TurnedAway> turned_away;
  for (const auto& [reason, number] : std::vector<std::pair<std::string, std::uint64_t Stats::*>>{
           {"crowded", &Stats::crowded},
           {"memory", &Stats::no_memory},
           {"slow", &Stats::slow},
           {"too_large", &Stats::too_large},
           {"malformed", &Stats::malformed}}) {
    turned_away.push_back(
        {number, registry.NewCounter("http_server_turned_away_total",
                                     "Connections and requests that were refused or closed.",
                                     {{"server", name}, {"reason", reason}})});
  }
  registry.OnScrape([&server, connections, held_bytes, turned_away] {
    const Stats stats = server.stats();
    connections.Set(static_cast<double>(stats.connections));
    held_bytes.Set(static_cast<double>(stats.held_bytes));
    for (const TurnedAway& each : turned_away) {
      each.counter.Increment(static_cast<double>(stats.*each.number) - each.counter.value());
    }
  });
}

}  // namespace manager
