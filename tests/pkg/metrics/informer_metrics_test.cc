#include "pkg/metrics/informer_metrics.h"

#include <catch2/catch.hpp>
#include <memory>

namespace informer_metrics_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {
const metrics::InformerMetrics::Names kDeployments{
    .name = "quota", .group = "apps", .version = "v1", .resource = "deployments"};
const std::string kLabels =
    "{group=\"apps\",name=\"quota\",resource=\"deployments\",version=\"v1\"}";
}  // namespace

TEST_CASE("informer metrics: all start at zero", "[metrics]") {
  metrics::Registry registry;
  metrics::InformerMetrics metrics(registry, kDeployments);
  const std::string text = registry.Expose();
  for (const char* name : {"informer_queued_items", "informer_store_resource_version",
                           "informer_synced", "informer_failures_total"}) {
    CHECK_THAT(text, Contains(name + kLabels + " 0\n"));
  }
  CHECK_THAT(text, Contains("informer_processing_latency_seconds_count" + kLabels + " 0\n"));
}

TEST_CASE("informer metrics: a resource version keeps its last 15 digits", "[metrics]") {
  metrics::Registry registry;
  metrics::InformerMetrics metrics(registry, kDeployments);
  metrics.SetResourceVersion("1230000000000000042");
  CHECK_THAT(registry.Expose(), Contains("informer_store_resource_version" + kLabels + " 42\n"));
  // The version of an aggregated API need not be a number. The old value stays.
  metrics.SetResourceVersion("opaque");
  CHECK_THAT(registry.Expose(), Contains("informer_store_resource_version" + kLabels + " 42\n"));
}

TEST_CASE("informer metrics: the series end with the informer", "[metrics]") {
  metrics::Registry registry;
  auto metrics = std::make_unique<metrics::InformerMetrics>(registry, kDeployments);
  metrics->Processed(2ms);
  metrics.reset();
  CHECK_THAT(registry.Expose(), !Contains("deployments"));
}

}  // namespace informer_metrics_test
