#include "pkg/metrics/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

TEST_CASE("registry: series start at zero and are exported at once", "[metrics]") {
  metrics::Registry registry;
  registry.NewCounter("jobs_total", "Jobs.", {{"queue", "a"}});
  CHECK(registry.Expose() ==
        "# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total{queue=\"a\"} 0\n");
}

TEST_CASE("registry: the same name and labels are the same series", "[metrics]") {
  metrics::Registry registry;
  const auto first = registry.NewCounter("jobs_total", "Jobs.", {{"queue", "a"}});
  const auto second = registry.NewCounter("jobs_total", "Jobs.", {{"queue", "a"}});
  const auto other = registry.NewCounter("jobs_total", "Jobs.", {{"queue", "b"}});
  first.Increment();
  second.Increment(2);
  CHECK(first.value() == 3);
  CHECK(other.value() == 0);
}

TEST_CASE("registry: histogram bounds print as shortest decimals", "[metrics]") {
  metrics::Registry registry;
  const auto took = registry.NewHistogram("took_seconds", "Took.", {0.005, 0.1, 1});
  took.Observe(0.05);
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("took_seconds_bucket{le=\"0.005\"} 0\n"));
  CHECK_THAT(text, Contains("took_seconds_bucket{le=\"0.1\"} 1\n"));
  CHECK_THAT(text, Contains("took_seconds_bucket{le=\"1\"} 1\n"));
  CHECK_THAT(text, Contains("took_seconds_bucket{le=\"+Inf\"} 1\n"));
  CHECK_THAT(text, Contains("took_seconds_count 1\n"));
  CHECK_THAT(text, Contains("took_seconds_sum 0.05\n"));
}

TEST_CASE("registry: label values are escaped", "[metrics]") {
  metrics::Registry registry;
  registry.NewGauge("g", "G.", {{"x", "a\"b\\c\nd"}});
  CHECK_THAT(registry.Expose(), Contains("g{x=\"a\\\"b\\\\c\\nd\"} 0"));
}

TEST_CASE("registry: a removed series is gone, and its handles have no effect", "[metrics]") {
  metrics::Registry registry;
  const auto gone = registry.NewGauge("used", "Used.", {{"namespace", "a"}});
  // A copy is what is tested: NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const auto copy = gone;
  const auto stays = registry.NewGauge("used", "Used.", {{"namespace", "b"}});
  registry.Remove(gone);
  registry.Remove(gone);
  copy.Set(5);
  CHECK(copy.value() == 0);
  const std::string text = registry.Expose();
  CHECK_THAT(text, !Contains("namespace=\"a\""));
  CHECK_THAT(text, Contains("used{namespace=\"b\"} 0"));
  registry.NewGauge("used", "Used.", {{"namespace", "a"}}).Set(7);
  CHECK_THAT(registry.Expose(), Contains("used{namespace=\"a\"} 7"));
}

TEST_CASE("registry: handles may outlive the registry", "[metrics]") {
  metrics::Counter counter;
  counter.Increment();
  {
    metrics::Registry registry;
    counter = registry.NewCounter("c_total", "C.");
  }
  counter.Increment();
  CHECK(counter.value() == 0);
}

TEST_CASE("registry: values with a callback are refreshed by every scrape", "[metrics]") {
  metrics::Registry registry;
  int reads = 0;
  const auto gauge = registry.NewGauge("reads", "Reads.");
  registry.OnScrape([&] { gauge.Set(++reads); });
  CHECK_THAT(registry.Expose(), Contains("reads 1\n"));
  CHECK_THAT(registry.Expose(), Contains("reads 2\n"));
}

TEST_CASE("registry: gauges that are reported at each scrape are not stored", "[metrics]") {
  metrics::Registry registry;
  registry.NewGauge("m", "M.").Set(1);
  std::vector<std::string> names{"a", "b\"c"};
  int refreshed = 0;
  registry.OnScrape([&] { ++refreshed; });
  registry.NewGauges("k", "K.", [&](const metrics::Registry::TellSeries& tell) {
    for (const std::string& name : names) {
      tell({{"z", name}, {"a", "x"}}, static_cast<double>(refreshed) + 0.5);
    }
    return false;
  });
  CHECK(registry.Expose() ==
        "# HELP k K.\n# TYPE k gauge\nk{z=\"a\",a=\"x\"} 1.5\nk{z=\"b\\\"c\",a=\"x\"} 1.5\n"
        "# HELP m M.\n# TYPE m gauge\nm 1\n");
  names.pop_back();
  CHECK_THAT(registry.Expose(), Contains("z=\"a\",a=\"x\"} 2.5\n# HELP m"));
}

TEST_CASE("registry: counters can be reported at each scrape, too", "[metrics]") {
  metrics::Registry registry;
  registry.NewCounters("c_total", "C.", [](const metrics::Registry::TellSeries& tell) {
    tell({{"n", "a"}}, 3);
    return false;
  });
  CHECK(registry.Expose() == "# HELP c_total C.\n# TYPE c_total counter\nc_total{n=\"a\"} 3\n");
}

TEST_CASE("registry: a family that takes several steps is written once", "[metrics]") {
  metrics::Registry registry;
  registry.NewGauge("m", "M.").Set(1);
  int refreshed = 0;
  registry.OnScrapeInSteps([&] { return ++refreshed % 3 != 0; });
  int next = 0;
  registry.NewGauges("k", "K.", [&](const metrics::Registry::TellSeries& tell) {
    const std::string name = std::to_string(next);
    if (next < 2) tell({{"n", name}}, next);
    if (++next < 3) return true;
    next = 0;
    return false;
  });
  const std::string text =
      "# HELP k K.\n# TYPE k gauge\nk{n=\"0\"} 0\nk{n=\"1\"} 1\n# HELP m M.\n# TYPE m gauge\nm 1\n";
  CHECK(registry.Expose() == text);
  CHECK(refreshed == 3);

  // An abandoned scrape leaves nothing behind.
  auto dropped = registry.TryExpose();
  REQUIRE(dropped != nullptr);
  CHECK(registry.TryExpose() == nullptr);
  dropped->Step();
  dropped.reset();
  refreshed = 0;
  const auto whole = registry.TryExpose();
  int most_in_a_step = 0;
  for (bool more = true; more;) {
    const int before = refreshed;
    more = whole->Step();
    most_in_a_step = std::max(most_in_a_step, refreshed - before);
  }
  CHECK(whole->Text() == text);
  CHECK(most_in_a_step == 1);
}

TEST_CASE("registry: names are exported in order", "[metrics]") {
  metrics::Registry registry;
  registry.NewGauge("b", "B.");
  registry.NewGauge("a", "A.");
  const std::string text = registry.Expose();
  CHECK(text.find("# HELP a") < text.find("# HELP b"));
}
