#pragma once

// The engine of one quota API: its rules, its controller and metrics, and its part of admission.
//
// The controller runs while the server serves the quota API. Where it is missing, its CRD may yet
// come, or go and come again; nobody announces that, so discovery is asked now and then. Meanwhile
// there is nothing to count or to decide, which is no trouble: it is said once, and readiness does
// not wait for it.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <memory>
#include <optional>
#include <string>

#include "cmd/quota-controller-manager/admission_service.h"
#include "cmd/quota-controller-manager/controller_metrics.h"
#include "controllers/quota/quota_controller.h"
#include "pkg/debug/health.h"
#include "pkg/debug/queue_metrics.h"

namespace manager {

struct EngineOptions {
  controllers::TrackingContext context;
  controllers::QuotaControllerOptions controller;
  AdmissionService* admission = nullptr;  // null: not decided here
  std::string not_enforced;               // why not, where one would expect it; said when it runs
};

class Engine {
 public:
  Engine(quota::QuotaApi api, controllers::ServedResources& served, EngineOptions options);

  [[nodiscard]] const std::string& name() const { return api_.name; }
  void AddChecks(debug::Health& health);
  // Null while the quota API is not served.
  [[nodiscard]] const controllers::QuotaStore* store() const {
    return controller_ ? &controller_->store() : nullptr;
  }
  // Until cancelled.
  base::Task<void> Run();
  // As QuotaController::OnLeading().
  void OnLeading();

 private:
  [[nodiscard]] bool MayStart() const;
  [[nodiscard]] bool IsGone() const;
  [[nodiscard]] bool IsLookDue() const;
  [[nodiscard]] std::optional<std::string> WhyNotReady() const;
  base::Task<void> Look();
  void SayAbsent();
  base::Task<void> RunController();
  void StartController();

  quota::QuotaApi api_;
  controllers::ServedResources& served_;
  EngineOptions options_;
  base::Scheduler& scheduler_;
  ControllerMetrics metrics_;
  debug::QueueMetrics queue_metrics_;
  std::unique_ptr<controllers::QuotaController> controller_;  // null: the API is not served
  bool absent_ = false;                                       // and that is known
};

}  // namespace manager
