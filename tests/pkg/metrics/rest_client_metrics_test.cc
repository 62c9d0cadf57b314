#include "pkg/metrics/rest_client_metrics.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

TEST_CASE("rest client metrics: the common series start at zero", "[metrics]") {
  metrics::Registry registry;
  metrics::RestClientMetrics metrics(registry, "10.0.0.1:6443");
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("rest_client_requests_total{code=\"200\",host=\"10.0.0.1:6443\","
                            "method=\"GET\"} 0"));
  CHECK_THAT(text, Contains("rest_client_requests_total{code=\"<error>\",host=\"10.0.0.1:6443\","
                            "method=\"PATCH\"} 0"));
}

TEST_CASE("rest client metrics: a request is counted by its code and timed by its verb",
          "[metrics]") {
  metrics::Registry registry;
  metrics::RestClientMetrics metrics(registry, "h");
  metrics.Done(
      {.method = "PATCH", .code = 409, .took = 300ms, .sent_bytes = 100, .received_bytes = 2000});
  metrics.Done({.method = "GET", .code = 0, .took = 1s});
  metrics.Retried("GET", 429);
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("requests_total{code=\"409\",host=\"h\",method=\"PATCH\"} 1"));
  CHECK_THAT(text, Contains("requests_total{code=\"<error>\",host=\"h\",method=\"GET\"} 1"));
  CHECK_THAT(text, Contains("duration_seconds_bucket{host=\"h\",verb=\"PATCH\",le=\"0.25\"} 0"));
  CHECK_THAT(text, Contains("duration_seconds_bucket{host=\"h\",verb=\"PATCH\",le=\"0.5\"} 1"));
  CHECK_THAT(text, Contains("request_size_bytes_sum{host=\"h\",verb=\"PATCH\"} 100"));
  CHECK_THAT(text, Contains("response_size_bytes_sum{host=\"h\",verb=\"PATCH\"} 2000"));
  CHECK_THAT(text, Contains("retries_total{code=\"429\",host=\"h\",verb=\"GET\"} 1"));
}

TEST_CASE("rest client metrics: a watch is counted but not timed", "[metrics]") {
  metrics::Registry registry;
  metrics::RestClientMetrics metrics(registry, "h");
  metrics.Done({.method = "GET", .code = 200, .took = 500s, .watch = true});
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("requests_total{code=\"200\",host=\"h\",method=\"GET\"} 1"));
  CHECK_THAT(text, Contains("duration_seconds_count{host=\"h\",verb=\"GET\"} 0"));
}
