#include "cmd/quota-controller-manager/applied_service.h"

#include <utility>

#include "controllers/applied/applied_view.h"

namespace manager {
namespace {

constexpr const char* kObjects = "quota_applied_cluster_quotas";
constexpr const char* kObjectsHelp =
    "AppliedClusterQuotas: stored, and changed, which the leader has still to write.";

}  // namespace

AppliedService::AppliedService(metrics::Registry& registry, const base::Clock& clock, bool wanted)
    : clock_(clock),
      wanted_(wanted),
      stored_(registry.NewGauge(kObjects, kObjectsHelp, {{"state", "stored"}})),
      changed_(registry.NewGauge(kObjects, kObjectsHelp, {{"state", "changed"}})),
      oldest_change_(
          registry.NewGauge("quota_applied_cluster_quotas_oldest_change_seconds",
                            "Age of the oldest change that the leader has still to write to an "
                            "AppliedClusterQuota; 0: there is none.")) {
  for (const char* result : {"created", "updated", "deleted", "postponed", "failed"}) {
    writes_.emplace(result, registry.NewCounter("quota_applied_cluster_quota_writes_total",
                                                "Writes of AppliedClusterQuotas, by result.",
                                                {{"result", result}}));
  }
  registry.OnScrapeInSteps([this, tally = controllers::AppliedPlan::Tally()]() mutable {
    if (CountSome(tally)) return true;
    Show(tally);
    return false;
  });
}

bool AppliedService::CountSome(controllers::AppliedPlan::Tally& tally) const {
  if (controller_) return controller_->plan().Count(tally);
  tally = {};
  return false;
}

void AppliedService::Show(const controllers::AppliedPlan::Tally& tally) {
  stored_.Set(static_cast<double>(tally.stored));
  changed_.Set(static_cast<double>(tally.changed));
  const base::Duration age =
      tally.changed > 0 ? clock_.Now() - tally.oldest_change : base::Duration::zero();
  oldest_change_.Set(std::chrono::duration<double>(age).count());
}

void AppliedService::Attach(controllers::QuotaController& quotas,
                            controllers::ServedResources& served,
                            const controllers::TrackingContext& context,
                            controllers::AppliedOptions options) {
  if (wanted_) {
    source_ = std::make_unique<controllers::AppliedView>(quotas);
  } else {
    source_ = std::make_unique<controllers::NothingApplied>();
  }
  controller_ = std::make_unique<controllers::AppliedController>(context, *source_, served, *this,
                                                                 std::move(options));
  if (wanted_) quotas.SetClusterListener(controller_.get());
}

void AppliedService::Detach() {
  controller_.reset();
  source_.reset();
}

void AppliedService::OnAppliedWrite(std::string_view result) {
  const auto found = writes_.find(result);
  if (found != writes_.end()) found->second.Increment();
}

}  // namespace manager
