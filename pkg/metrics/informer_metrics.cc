#include "pkg/metrics/informer_metrics.h"

#include <algorithm>
#include <charconv>

namespace metrics {
namespace {

const Buckets kEventSeconds{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};

}  // namespace

InformerMetrics::InformerMetrics(Registry& registry, const Names& names) : registry_(registry) {
  const Labels labels{{"name", names.name},
                      {"group", names.group},
                      {"version", names.version},
                      {"resource", names.resource}};
  const auto gauge = [&](const char* name, const char* help) {
    return registry.NewGauge(name, help, labels);
  };
  const auto counter = [&](const char* name, const char* help) {
    return registry.NewCounter(name, help, labels);
  };
  queued_ = gauge("informer_queued_items", "Events that wait for processing.");
  processing_ =
      registry.NewHistogram("informer_processing_latency_seconds",
                            "Time to decode and process one event.", kEventSeconds, labels);
  version_ = gauge("informer_store_resource_version",
                   "The last 15 digits of the last processed resource version.");
  synced_ = gauge("informer_synced", "1 once a complete list was processed.");
  failing_ = gauge("informer_failing", "1 while lists or watches fail.");
  lists_ = counter("informer_lists_total", "Complete lists that were processed.");
  watches_ = counter("informer_watches_total", "Watches that were opened.");
  events_ = counter("informer_events_total", "Watch events, including bookmarks.");
  failures_ = counter("informer_failures_total", "Lists and watches that failed.");
  skipped_ = counter("informer_skipped_objects_total",
                     "Objects left out because they have no uid or no name.");
}

InformerMetrics::~InformerMetrics() {
  for (const Gauge& gauge : {queued_, version_, synced_, failing_}) registry_.Remove(gauge);
  for (const Counter& counter : {lists_, watches_, events_, failures_, skipped_}) {
    registry_.Remove(counter);
  }
  registry_.Remove(processing_);
}

void InformerMetrics::SetResourceVersion(const std::string& version) {
  // A double holds 15 decimal digits exactly.
  const std::size_t kept = std::min<std::size_t>(version.size(), 15);
  const char* const end = version.data() + version.size();
  std::uint64_t digits = 0;
  const auto parsed = std::from_chars(end - kept, end, digits);
  if (parsed.ec == std::errc{} && parsed.ptr == end) version_.Set(static_cast<double>(digits));
}

}  // namespace metrics
