#pragma once

// Exports the requests of the API server client as rest_client_…. Single-threaded; the registry
// must outlive it.

#include <string>

#include "pkg/client/rest_client.h"
#include "pkg/metrics/rest_client_metrics.h"

namespace manager {

class RequestMetrics final : public client::RequestObserver {
 public:
  RequestMetrics(metrics::Registry& registry, std::string host)
      : metrics_(registry, std::move(host)) {}

  void OnExchange(const client::Exchange& exchange) override {
    metrics_.Done({.method = std::string(exchange.verb),
                   .code = exchange.code,
                   .took = exchange.took,
                   .sent_bytes = exchange.sent_bytes,
                   .received_bytes = exchange.received_bytes,
                   .watch = exchange.streamed});
  }
  void OnRetry(std::string_view verb, int code) override {
    metrics_.Retried(std::string(verb), code);
  }

 private:
  metrics::RestClientMetrics metrics_;
};

}  // namespace manager
