#include "pkg/metrics/admission_metrics.h"

namespace metrics {
namespace {

const Buckets kReviewSeconds{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
const Buckets kRequests{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

}  // namespace

AdmissionMetrics::AdmissionMetrics(Registry& registry, const std::vector<std::string>& quota_apis)
    : registry_(registry) {
  for (const std::string& quota_api : quota_apis) For(quota_api);
}

void AdmissionMetrics::Decided(std::string_view quota_api, std::string_view result,
                               std::chrono::duration<double> took) {
  const OfApi& of_api = For(quota_api);
  const auto found = of_api.decisions.find(result);
  if (found != of_api.decisions.end()) found->second.Increment();
  of_api.duration.Observe(took.count());
}

void AdmissionMetrics::Warned(std::string_view quota_api) { For(quota_api).warnings.Increment(); }

void AdmissionMetrics::Batch(std::string_view quota_api, std::size_t requests,
                             std::size_t status_writes) {
  const OfApi& of_api = For(quota_api);
  of_api.batch.Observe(static_cast<double>(requests));
  of_api.status_writes.Increment(static_cast<double>(status_writes));
}

void AdmissionMetrics::Conflict(std::string_view quota_api) {
  For(quota_api).conflicts.Increment();
}

void AdmissionMetrics::ReservationsExpired(std::string_view quota_api, std::size_t reservations) {
  For(quota_api).reservations_expired.Increment(static_cast<double>(reservations));
}

AdmissionMetrics::OfApi& AdmissionMetrics::For(std::string_view quota_api) {
  const auto found = apis_.find(quota_api);
  if (found != apis_.end()) return found->second;
  const std::string name(quota_api);
  return apis_.emplace(name, Make(name)).first->second;
}

AdmissionMetrics::OfApi AdmissionMetrics::Make(const std::string& quota_api) {
  const Labels labels{{"quota_api", quota_api}};
  const auto counter = [&](std::string_view name, std::string_view help) {
    return registry_.NewCounter(name, help, labels);
  };
  OfApi made;
  for (const char* result : {"allowed", "refused", "busy", "unavailable", "malformed"}) {
    made.decisions.emplace(
        result, registry_.NewCounter(
                    "quota_admission_decisions_total",
                    "Admission reviews by result. Malformed requests were not valid reviews.",
                    {{"quota_api", quota_api}, {"result", result}}));
  }
  made.duration = registry_.NewHistogram("quota_admission_duration_seconds",
                                         "Time from a review's arrival to its decision.",
                                         kReviewSeconds, labels);
  made.batch =
      registry_.NewHistogram("quota_admission_batch_requests",
                             "Requests that were decided and written together.", kRequests, labels);
  made.status_writes = counter("quota_admission_status_writes_total",
                               "Status writes that reserved usage for admitted requests.");
  made.conflicts = counter("quota_admission_conflicts_total",
                           "Status writes refused because of a newer resource version.");
  made.reservations_expired =
      counter("quota_admission_charges_expired_total",
              "Reservations whose object was never stored; their quotas are recounted.");
  made.warnings = counter("quota_admission_warnings_total",
                          "Admission warnings that a limit is almost used up.");
  return made;
}

}  // namespace metrics
