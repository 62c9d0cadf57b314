#pragma once

// The metrics of requests to the API server, with the names that dashboards for Kubernetes' own
// components use (component-base v0.36.3, metrics/prometheus/restclient). One per server; the
// registry must outlive it.

#include <chrono>
#include <map>
#include <tuple>

#include "pkg/metrics/registry.h"

namespace metrics {

class RestClientMetrics {
 public:
  // `host` is the server's "host:port". The series of this program's most frequent methods start at
  // zero, for successes and for failures without an answer.
  RestClientMetrics(Registry& registry, std::string host);

  struct Request {
    std::string method;  // "GET"
    int code = 0;        // 0: no answer, exported as <error>
    std::chrono::duration<double> took{};
    std::size_t sent_bytes = 0;
    std::size_t received_bytes = 0;
    bool watch = false;  // counted, but without duration and size
  };
  void Done(const Request& request);
  // A request is retried because of an answer with `code`; 0: because there was no answer.
  void Retried(const std::string& method, int code);

 private:
  struct OfMethod {
    Histogram duration;
    Histogram sent;
    Histogram received;
  };
  const OfMethod& ForMethod(const std::string& method);
  const Counter& Requests(const std::string& method, int code);

  Registry& registry_;
  std::string host_;
  std::map<std::string, OfMethod> methods_;
  std::map<std::pair<std::string, int>, Counter> requests_;
  std::map<std::pair<std::string, int>, Counter> retries_;
};

}  // namespace metrics
