#include "pkg/metrics/admission_metrics.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

TEST_CASE("admission metrics: every result of a quota API starts at zero", "[metrics]") {
  metrics::Registry registry;
  const metrics::AdmissionMetrics metrics(registry, {"core"});
  const std::string text = registry.Expose();
  for (const std::string result : {"allowed", "refused", "busy", "unavailable", "malformed"}) {
    CHECK_THAT(text, Contains("quota_admission_decisions_total{quota_api=\"core\",result=\"" +
                              result + "\"} 0"));
  }
}

TEST_CASE("admission metrics: each event is counted for its quota API", "[metrics]") {
  metrics::Registry registry;
  metrics::AdmissionMetrics metrics(registry, {"core"});
  metrics.Decided("core", "refused", 700us);
  metrics.Decided("other", "allowed", 1s);
  metrics.Warned("core");
  metrics.Batch("core", 17, 2);
  metrics.Batch("core", 3, 0);
  metrics.Conflict("core");
  metrics.ReservationsExpired("core", 5);
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("decisions_total{quota_api=\"core\",result=\"refused\"} 1"));
  CHECK_THAT(text, Contains("decisions_total{quota_api=\"core\",result=\"allowed\"} 0"));
  CHECK_THAT(text, Contains("decisions_total{quota_api=\"other\",result=\"allowed\"} 1"));
  CHECK_THAT(text, Contains("duration_seconds_bucket{quota_api=\"core\",le=\"0.0005\"} 0"));
  CHECK_THAT(text, Contains("duration_seconds_bucket{quota_api=\"core\",le=\"0.001\"} 1"));
  CHECK_THAT(text, Contains("admission_warnings_total{quota_api=\"core\"} 1"));
  CHECK_THAT(text, Contains("batch_requests_sum{quota_api=\"core\"} 20"));
  CHECK_THAT(text, Contains("admission_status_writes_total{quota_api=\"core\"} 2"));
  CHECK_THAT(text, Contains("admission_conflicts_total{quota_api=\"core\"} 1"));
  CHECK_THAT(text, Contains("charges_expired_total{quota_api=\"core\"} 5"));
}
