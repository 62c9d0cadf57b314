#pragma once

// Owns the controller of AppliedClusterQuotas while the controller of ClusterQuotas runs, and
// exports its metrics.
//
// Single-threaded. The arguments of the constructor must outlive it, those of Attach() at least
// until Detach().

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "controllers/applied/applied_controller.h"
#include "controllers/quota/quota_controller.h"
#include "pkg/metrics/registry.h"

namespace manager {

class AppliedService final : public controllers::AppliedObserver {
 public:
  // If `wanted` is false, the controller deletes the objects that earlier daemons wrote.
  AppliedService(metrics::Registry& registry, const base::Clock& clock, bool wanted);

  // Call it before Run() of `quotas`.
  void Attach(controllers::QuotaController& quotas, controllers::ServedResources& served,
              const controllers::TrackingContext& context, controllers::AppliedOptions options);
  // Runs until cancelled. REQUIRES: Attach() was called.
  base::Task<void> Run() { return controller_->Run(); }
  // Call it before `quotas` is destroyed. REQUIRES: Run() has returned.
  void Detach();

  void OnAppliedWrite(std::string_view result) override;

 private:
  bool CountSome(controllers::AppliedPlan::Tally& tally) const;
  void Show(const controllers::AppliedPlan::Tally& tally);

  const base::Clock& clock_;
  const bool wanted_;
  metrics::Gauge stored_;
  metrics::Gauge changed_;
  metrics::Gauge oldest_change_;
  std::map<std::string, metrics::Counter, std::less<>> writes_;
  std::unique_ptr<controllers::AppliedSource> source_;
  std::unique_ptr<controllers::AppliedController> controller_;  // null: not attached
};

}  // namespace manager
