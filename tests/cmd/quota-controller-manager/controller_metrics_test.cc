#include "cmd/quota-controller-manager/controller_metrics.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"

namespace controller_metrics_test {
namespace {

using Catch::Matchers::Contains;

struct Cluster {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  controllers::Accounts accounts{scheduler, "us", {}, base::Duration()};
  metrics::Registry registry;
  manager::ControllerMetrics metrics{registry, "core"};

  // Reserves two pods for each of this number of creations.
  void Reserve(const std::string& name, std::size_t objects) {
    quota::Quota quota;
    quota.key = {.ns = "team-a", .name = name};
    quota.uid = "uid-of-" + name;
    accounting::ReservationList list;
    accounting::Reservation entry{.by = "us", .n = ++n, .of = "pods"};
    entry.usage.Set("pods", *quota::Quantity::Parse("2"));
    for (std::size_t i = 0; i < objects; ++i) {
      entry.objects.push_back(quota::Uid::FromText(name + std::to_string(i)));
    }
    if (objects > 0) list.Add(std::move(entry));
    accounts.Of(quota).list.TakeOurs(list);
  }
  std::string Scrape() {
    controllers::Accounts::Tally tally;
    while (accounts.Count(tally)) continue;
    metrics.ShowReservations(tally, scheduler.Now());
    return registry.Expose();
  }

  std::uint64_t n = 0;
};

std::string Series(const std::string& name, std::size_t amount) {
  return R"(quota_reserved_usage{namespace="team-a",quota=")" + name +
         R"(",quota_api="core",resource="pods"} )" + std::to_string(amount) + "\n";
}

}  // namespace

TEST_CASE(
    "controller metrics: reserved usage is exported for the ten quotas with the most reservations",
    "[manager]") {
  Cluster c;
  for (std::size_t i = 0; i < 12; ++i) c.Reserve("q" + std::to_string(i), (i + 5) % 12);
  const std::string text = c.Scrape();
  CHECK_THAT(text, Contains("quota_reservations{quota_api=\"core\"} 66\n"));
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t objects = (i + 5) % 12;
    const std::string series = Series("q" + std::to_string(i), 2 * objects);
    INFO(series);
    CHECK((text.find(series) != std::string::npos) == (objects >= 2));
  }
}

TEST_CASE("controller metrics: the series of a quota end with its last reservation", "[manager]") {
  Cluster c;
  c.Reserve("q", 3);
  CHECK_THAT(c.Scrape(), Contains(Series("q", 6)));
  c.accounts.Forget({.ns = "team-a", .name = "q"});
  CHECK_THAT(c.Scrape(), !Contains("quota_reserved_usage{"));
  c.Reserve("q", 1);
  CHECK_THAT(c.Scrape(), Contains(Series("q", 2)));
  c.metrics.Clear();
  CHECK_THAT(c.registry.Expose(), !Contains("quota_reserved_usage{"));
}

TEST_CASE("controller metrics: the series of names that are not counted are bounded", "[manager]") {
  Cluster c;
  const auto series = [&] {
    const std::string text = c.registry.Expose();
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("\nquota_stale_quotas{", at)) != std::string::npos;
         ++at) {
      ++found;
    }
    return found;
  };
  const auto shown = [&](const std::string& resource, const std::string& reason, int quotas) {
    const std::string line = R"(quota_stale_quotas{quota_api="core",reason=")" + reason +
                             R"(",resource=")" + resource + "\"} " + std::to_string(quotas) + "\n";
    return c.registry.Expose().find(line) != std::string::npos;
  };
  controllers::QuotaConditions::Standings standings;
  for (int i = 0; i < 99; ++i) standings[{"x" + std::to_string(i) + ".a", "not-served"}] = 1;
  standings[{"secrets", "stale"}] = 7;
  c.metrics.ShowStale(standings);
  CHECK(series() == 100);
  CHECK(shown("x98.a", "not-served", 1));
  for (int i = 99; i < 3000; ++i) standings[{"x" + std::to_string(i) + ".a", "not-served"}] = 1;
  standings[{"machines.m", "stale"}] = 2;
  c.metrics.ShowStale(standings);
  CHECK(series() == 101);
  CHECK(shown("secrets", "stale", 7));
  CHECK(shown("machines.m", "stale", 2));
  CHECK(shown("", "not-served", 3000 - 98));
  c.metrics.ShowStale({{{"secrets", "stale"}, 6}});
  CHECK(series() == 1);
  CHECK(shown("secrets", "stale", 6));
}

}  // namespace controller_metrics_test
