#pragma once

// Watches the stored AppliedClusterQuotas and performs the writes that AppliedPlan decides, while
// the API server serves the resource. Only the leader writes.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "controllers/applied/applied_plan.h"
#include "controllers/quota/cluster/cluster_listener.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/tracked_resource.h"
#include "informers/reflector.h"
#include "pkg/base/log_limit.h"

namespace controllers {

// Records metrics. Implemented by the daemon.
class AppliedObserver {
 public:
  virtual ~AppliedObserver() = default;
  // `result` is "created", "updated", "deleted", "postponed" or "failed".
  virtual void OnAppliedWrite(std::string_view result) = 0;
};

struct AppliedOptions {
  std::function<bool()> leading;  // called before each write; null: always
  base::Duration write_timeout = std::chrono::seconds(10);
};

class AppliedController final : public informers::CollectionSink, public ClusterListener {
 public:
  // `source`, `served`, `observer` and all objects that `context` points to must outlive it.
  AppliedController(TrackingContext context, const AppliedSource& source, ServedResources& served,
                    AppliedObserver& observer, AppliedOptions options);

  // Runs until cancelled.
  base::Task<void> Run();
  [[nodiscard]] const AppliedPlan& plan() const { return plan_; }

  void OnClusterQuota(const quota::Quota* before, const quota::Quota* after) override;
  void OnReachOf(const std::string& ns) override { plan_.OnReachOf(ns); }
  void OnUsageIn(const std::string& ns) override { plan_.OnUsageIn(ns); }

  void BeginList() override { plan_.BeginList(); }
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override { plan_.OnGone(object); }
  bool SweepSome() override { return plan_.SweepSome(); }
  void EndList() override;

 private:
  // Runs until the API server stops serving the resource, or until cancelled.
  base::Task<void> Write();
  base::Task<void> Perform(AppliedWrite write);
  std::unique_ptr<informers::Reflector> NewWatch();
  [[nodiscard]] client::ApiRequest RequestOf(const AppliedWrite& write) const;
  void Fail(const AppliedWrite& write, const base::Error& error);
  void SayTaken(std::string_view ns, std::string_view name);

  TrackingContext context_;
  ServedResources& served_;
  AppliedObserver& observer_;
  AppliedOptions options_;
  AppliedPlan plan_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<base::Alarm> alarm_;
  base::LogLimit lines_;  // by namespace
  bool listed_ = false;
};

}  // namespace controllers
