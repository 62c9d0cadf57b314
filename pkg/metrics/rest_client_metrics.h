#pragma once

// The metrics of requests to the API server, with the names that dashboards of Kubernetes' own
// components use (component-base v0.36.3, metrics/prometheus/restclient). One per server; the
// registry outlives it.

#include <chrono>
#include <map>
#include <tuple>

#include "pkg/metrics/registry.h"

namespace metrics {

class RestClientMetrics {
 public:
  // `host` is "host:port" of the server. Successes and failures without an answer, of the methods
  // this program uses most, start at zero.
  RestClientMetrics(Registry& registry, std::string host);

  struct Request {
    std::string method;  // "GET"
    int code = 0;        // 0: no answer, exported as <error>
    std::chrono::duration<double> took{};
    std::size_t sent_bytes = 0;
    std::size_t received_bytes = 0;
    bool watch = false;  // counted, but neither its duration nor its size
  };
  void Done(const Request& request);
  // A request is repeated; `code` is the answer that made it so, 0 without one.
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
