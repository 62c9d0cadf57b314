#pragma once

// A real Prometheus that scrapes one daemon every second, as the ServiceMonitor of
// manifests/monitoring-verified tells it to: over TLS, with the certificate verified and a token,
// and with the labels that the Prometheus operator adds. Blocking; any thread.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/json/value.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"

namespace e2e {

struct ScrapeTarget {
  std::uint16_t port = 0;  // of 127.0.0.1
  std::string ca_path;
  std::string server_name;
  std::string token;
};

struct Series {
  std::map<std::string, std::string> labels;
  std::vector<std::pair<double, double>> points;  // seconds since 1970, value; finite ones only
};

class LivePrometheus {
 public:
  static constexpr const char* kRateInterval = "4s";  // Grafana: four times the scrape interval

  // `program` is prometheus. Returns when it is ready.
  LivePrometheus(const std::string& program, const ScrapeTarget& target);

  // The series of a query that have a value between these times, second by second.
  std::vector<Series> Range(const std::string& query, double begin, double end);
  // Why the target cannot be scraped now; "": it can.
  std::string Trouble();

 private:
  json::Value Ask(const std::string& path);

  TempDir dir_;
  std::uint16_t port_;
  std::string log_path_ = dir_.path() + "/prometheus.log";
  std::unique_ptr<Process> process_;
};

}  // namespace e2e
