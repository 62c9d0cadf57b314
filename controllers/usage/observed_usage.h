#pragma once

// Sums what the watches have shown: the count of one quota, and the usage of one object.
//
// Single-threaded. All references must outlive it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/usage/namespace_labels.h"
#include "controllers/usage/object_reads.h"
#include "controllers/usage/obstacle.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/stall_detector.h"
#include "controllers/usage/tracker.h"
#include "pkg/admission/object_book.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/quota.h"

namespace controllers {

// The count of one quota, or the reason why it must wait.
struct QuotaCount {
  quota::Observed observed;
  bool pending = false;  // a source is still being listed, and may be done soon
  // Until this time some watch is known to lag. An object may be stored that it has not shown, and
  // that has no reservation because the quota is newer than the object. TimePoint::max() while a
  // failure lasts.
  base::TimePoint behind_until = base::TimePoint::min();
  // When the first of the lagging watches has caught up. TimePoint::max() if there is none, or if
  // each of them is failing.
  base::TimePoint catches_up_at = base::TimePoint::max();
  std::vector<Obstacle> obstacles;
  std::string trouble;  // the obstacles as text
};

class ObservedUsage final : public admission::ObjectBook {
 public:
  ObservedUsage(base::Scheduler& scheduler, client::ApiClient& client, ServedResources& served,
                const Tracker& tracker, const StallDetector& stalls)
      : scheduler_(scheduler),
        served_(served),
        tracker_(tracker),
        stalls_(stalls),
        reads_(client, scheduler, served) {}

  // Sets the labels by which quotas without a namespace select namespaces. Null, or no call: there
  // are no such quotas. `labels` must outlive this object.
  void SetLabels(const NamespaceLabels* labels) { labels_ = labels; }
  // Returns these labels if the quota depends on them, else null.
  [[nodiscard]] const NamespaceLabels* LabelsOf(const quota::Quota& quota) const {
    return quota.key.ns.empty() ? labels_ : nullptr;
  }

  // `patience`: how long a resource may take to be listed.
  [[nodiscard]] QuotaCount Count(const quota::Quota& quota, base::Duration patience) const;
  // As QuotaCount::behind_until. TimePoint::max() while a resource is being listed, because nothing
  // is lowered then either.
  [[nodiscard]] base::TimePoint BehindUntil(const quota::Quota& quota) const;
  // Returns what the quota counts for an object of this namespace with these facts. Names whose
  // usage is unknown are absent.
  [[nodiscard]] quota::ResourceList UsageOf(const quota::Quota& quota,
                                            const quota::Evaluator& evaluator, std::string_view ns,
                                            const quota::Uid& uid, const quota::Facts& facts) const;

  [[nodiscard]] const Tracker& tracker() const { return tracker_; }

  [[nodiscard]] quota::Rules RulesNow() const override { return served_.rules(); }
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override;
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns,
      const quota::ObjectFacts& facts) const override;
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override;
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;
  base::Task<base::Result<std::optional<admission::ScaledObject>>> ReadScaled(
      const quota::Evaluator& evaluator, std::string ns, std::string name,
      base::TimePoint deadline) override;
  base::Task<bool> IsTaken(const quota::Evaluator& evaluator, std::string ns, std::string name,
                           quota::Uid uid, base::TimePoint deadline) override;

 private:
  // Notes that a watch lags until then. Its names are known in part only, if it still lags.
  void NoteLag(base::TimePoint until, const std::vector<std::string>& names,
               QuotaCount& count) const;
  [[nodiscard]] QuotaCount CountObjects(const quota::Quota& quota, base::Duration patience) const;
  std::vector<Obstacle> AddUsage(const UsageSource& source, const quota::Quota& quota,
                                 quota::Observed& observed) const;
  [[nodiscard]] base::TimePoint BehindUntil(const UsageSource& source) const;

  base::Scheduler& scheduler_;
  ServedResources& served_;
  const Tracker& tracker_;
  const StallDetector& stalls_;
  const NamespaceLabels* labels_ = nullptr;
  ObjectReads reads_;
};

}  // namespace controllers
