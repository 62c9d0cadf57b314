#pragma once

// The engine of one quota API: its rules, its controller and metrics, and its part of admission.
//
// The controller runs while the server serves the quota API. If the API is missing, its CRD may
// still be created, or deleted and created again. No watch reports that, so the engine reads
// discovery regularly. Until then there is nothing to count or decide. That is not an error: it is
// logged once, and readiness does not wait for the API.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <memory>
#include <optional>
#include <string>

#include "cmd/quota-controller-manager/admission_service.h"
#include "cmd/quota-controller-manager/applied_service.h"
#include "cmd/quota-controller-manager/controller_metrics.h"
#include "controllers/quota/quota_controller.h"
#include "pkg/debug/health.h"
#include "pkg/debug/queue_metrics.h"

namespace manager {

struct EngineOptions {
  controllers::TrackingContext context;
  controllers::QuotaControllerOptions controller;
  AdmissionService* admission = nullptr;  // null: not enforced by this daemon
  // Null: its quotas do not advise (AdmissionService::Advise()). REQUIRES: `admission` is null
  // otherwise.
  AdmissionService* advised = nullptr;
  std::string not_enforced;  // why it is unexpectedly not enforced; logged at the start
  // True once UsageDefinitions are known, or there seem to be none. The controller waits a little
  // for them, so that it lists the objects of their kinds once. Null: its quota API takes none.
  std::function<bool()> definitions_known = {};
  bool applied = true;  // write AppliedClusterQuotas, if the quotas are ClusterQuotas
};

class Engine {
 public:
  Engine(quota::QuotaApi api, controllers::ServedResources& served,
         controllers::SharedResources& shared, EngineOptions options);

  [[nodiscard]] const std::string& name() const { return api_.name; }
  // Adds a check that passes once all quotas, and all resources that they name, are listed. It
  // passes from then on. Later a quota may name another resource, or the quota API may appear. Such
  // a list may take long on all replicas at once, and other reviews must be answered meanwhile.
  void AddChecks(debug::Health& health);
  // Null while the quota API is not served.
  [[nodiscard]] const controllers::QuotaStore* store() const {
    return controller_ ? &controller_->store() : nullptr;
  }
  // Runs until cancelled.
  base::Task<void> Run();
  // Calls QuotaController::OnLeading().
  void OnLeading();
  // Its quota API counts the objects of the resource by this evaluator from now on; nullopt: by
  // none that is defined.
  void Define(const api::GroupResource& resource, std::optional<quota::Evaluator> evaluator);
  // Null while the quota API is not served.
  [[nodiscard]] const controllers::Tracker* tracker() const {
    return controller_ ? &controller_->tracker() : nullptr;
  }

 private:
  [[nodiscard]] bool MayStart() const;
  [[nodiscard]] bool IsGone() const;
  [[nodiscard]] bool IsRefused() const;
  [[nodiscard]] bool IsLookDue() const;
  [[nodiscard]] std::optional<debug::Failure> WhyNotReady() const;
  base::Task<void> Look();
  base::Task<void> AwaitDefinitions();
  void SayAbsent();
  base::Task<void> RunController();
  void StartController();

  quota::QuotaApi api_;
  controllers::ServedResources& served_;
  controllers::SharedResources& shared_;
  EngineOptions options_;
  base::Scheduler& scheduler_;
  ControllerMetrics metrics_;
  debug::QueueMetrics queue_metrics_;
  std::unique_ptr<AppliedService> applied_;                   // null: no ClusterQuotas
  std::unique_ptr<controllers::QuotaController> controller_;  // null: the API is not served
  int starts_ = 0;                                            // of controllers
  bool absent_ = false;                                       // known to be not served
  bool was_ready_ = false;
};

}  // namespace manager
