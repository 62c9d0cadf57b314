#include "pkg/metrics/rest_client_metrics.h"

namespace metrics {
namespace {

// The buckets of component-base v0.36.3, metrics/prometheus/restclient/metrics.go.
const Buckets kRequestSeconds{.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60};
const Buckets kBytes{64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

std::string CodeLabel(int code) { return code == 0 ? "<error>" : std::to_string(code); }

}  // namespace

RestClientMetrics::RestClientMetrics(Registry& registry, std::string host)
    : registry_(registry), host_(std::move(host)) {
  for (const char* method : {"GET", "PATCH"}) {
    ForMethod(method);
    Requests(method, 200);
    Requests(method, 0);
  }
}

void RestClientMetrics::Done(const Request& request) {
  Requests(request.method, request.code).Increment();
  // A watch has answered only its headers: its duration and size are not known.
  if (request.watch) return;
  const OfMethod& of_method = ForMethod(request.method);
  of_method.duration.Observe(request.took.count());
  of_method.sent.Observe(static_cast<double>(request.sent_bytes));
  of_method.received.Observe(static_cast<double>(request.received_bytes));
}

void RestClientMetrics::Retried(const std::string& method, int code) {
  const auto [entry, added] = retries_.try_emplace({method, code});
  if (added) {
    entry->second = registry_.NewCounter(
        "rest_client_request_retries_total",
        "Number of request retries, partitioned by status code, verb, and host.",
        {{"code", CodeLabel(code)}, {"verb", method}, {"host", host_}});
  }
  entry->second.Increment();
}

const RestClientMetrics::OfMethod& RestClientMetrics::ForMethod(const std::string& method) {
  const auto [entry, added] = methods_.try_emplace(method);
  if (!added) return entry->second;
  const Labels labels{{"verb", method}, {"host", host_}};
  entry->second.duration = registry_.NewHistogram(
      "rest_client_request_duration_seconds",
      "Request latency in seconds, partitioned by verb and host.", kRequestSeconds, labels);
  entry->second.sent = registry_.NewHistogram(
      "rest_client_request_size_bytes", "Request size in bytes, partitioned by verb and host.",
      kBytes, labels);
  entry->second.received = registry_.NewHistogram(
      "rest_client_response_size_bytes", "Response size in bytes, partitioned by verb and host.",
      kBytes, labels);
  return entry->second;
}

const Counter& RestClientMetrics::Requests(const std::string& method, int code) {
  const auto [entry, added] = requests_.try_emplace({method, code});
  if (added) {
    entry->second = registry_.NewCounter(
        "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code, method, and host.",
        {{"code", CodeLabel(code)}, {"method", method}, {"host", host_}});
  }
  return entry->second;
}

}  // namespace metrics
