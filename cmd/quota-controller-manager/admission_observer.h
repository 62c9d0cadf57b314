#pragma once

// Exports the events of admission as metrics, and passes refusals to a callback. Single-threaded.
// The metrics must outlive it.

#include <functional>
#include <utility>

#include "pkg/admission/observer.h"
#include "pkg/metrics/admission_metrics.h"

namespace manager {

class AdmissionObserver final : public admission::Observer {
 public:
  using OnRefused = std::function<void(std::string_view quota_api, const admission::Refusal&)>;

  // `on_refused` is also called for requests that a quota in mode Warn or Audit would refuse
  // (Refusal::mode).
  AdmissionObserver(metrics::AdmissionMetrics& metrics, OnRefused on_refused)
      : metrics_(metrics), on_refused_(std::move(on_refused)) {}

  void OnDecision(std::string_view quota_api, std::string_view result,
                  base::Duration took) override {
    metrics_.Decided(quota_api, result, took);
  }
  void OnRefusal(std::string_view quota_api, const admission::Refusal& refusal) override {
    on_refused_(quota_api, refusal);
  }
  void OnWouldRefuse(std::string_view quota_api, const admission::Refusal& refusal) override {
    on_refused_(quota_api, refusal);
  }
  void OnWarning(std::string_view quota_api) override { metrics_.Warned(quota_api); }
  void OnBatch(std::string_view quota_api, std::size_t requests, std::size_t writes) override {
    metrics_.Batch(quota_api, requests, writes);
  }
  void OnConflict(std::string_view quota_api) override { metrics_.Conflict(quota_api); }
  void OnReservationsExpired(std::string_view quota_api, std::size_t reservations) override {
    metrics_.ReservationsExpired(quota_api, reservations);
  }

 private:
  metrics::AdmissionMetrics& metrics_;
  const OnRefused on_refused_;
};

}  // namespace manager
