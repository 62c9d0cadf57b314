#pragma once

// The metrics of admission, by quota API. The registry must outlive it.
//
// Single-threaded.

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/metrics/registry.h"

namespace metrics {

class AdmissionMetrics {
 public:
  // The series of these quota APIs start at zero. Those of another one begin when it is first
  // named.
  AdmissionMetrics(Registry& registry, const std::vector<std::string>& quota_apis);

  // `result`: "allowed", "refused", "busy", "unavailable" or "malformed".
  void Decided(std::string_view quota_api, std::string_view result,
               std::chrono::duration<double> took);
  void Warned(std::string_view quota_api);
  void Batch(std::string_view quota_api, std::size_t requests, std::size_t status_writes);
  void Conflict(std::string_view quota_api);
  void ReservationsExpired(std::string_view quota_api, std::size_t reservations);

 private:
  struct OfApi {
    std::map<std::string, Counter, std::less<>> decisions;  // by result
    Histogram duration;
    Histogram batch;
    Counter status_writes;
    Counter conflicts;
    Counter reservations_expired;
    Counter warnings;
  };
  OfApi& For(std::string_view quota_api);
  [[nodiscard]] OfApi Make(const std::string& quota_api);

  Registry& registry_;
  std::map<std::string, OfApi, std::less<>> apis_;
};

}  // namespace metrics
