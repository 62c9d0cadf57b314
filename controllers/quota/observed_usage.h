#pragma once

// What the watches have shown of objects, summed: one quota's count, and what one object uses. Of
// classes that no watch has shown the server is asked.
//
// Single-threaded. What it refers to outlives it.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controllers/quota/namespace_labels.h"
#include "controllers/quota/pulse.h"
#include "controllers/quota/quota_conditions.h"
#include "controllers/quota/served_resources.h"
#include "controllers/quota/tracker.h"
#include "pkg/admission/object_book.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/quota.h"

namespace controllers {

// One quota's count, or why it has to wait.
struct QuotaCount {
  quota::Observed observed;
  bool pending = false;  // some source is still being listed and may be done soon
  // Until then some source is known to be behind: what has no reservation, because the quota is
  // younger, may be stored and not shown. TimePoint::max(): as long as the trouble lasts.
  base::TimePoint behind_until = base::TimePoint::min();
  std::vector<Obstacle> obstacles;
  std::string trouble;  // what they say
};

class ObservedUsage final : public admission::ObjectBook {
 public:
  ObservedUsage(base::Scheduler& scheduler, client::ApiClient& client, ServedResources& served,
                const Tracker& tracker, const Pulse& pulse)
      : scheduler_(scheduler), client_(client), served_(served), tracker_(tracker), pulse_(pulse) {}

  // By whose labels quotas reach namespaces; null, as without this call: none does. It outlives
  // this.
  void SetLabels(const NamespaceLabels* labels) { labels_ = labels; }
  // The same, for a quota that depends on them; null: it does not.
  [[nodiscard]] const NamespaceLabels* LabelsOf(const quota::Quota& quota) const {
    return quota.key.ns.empty() ? labels_ : nullptr;
  }

  // `patience`: so long a resource may take to be listed.
  [[nodiscard]] QuotaCount Count(const quota::Quota& quota, base::Duration patience) const;
  // As QuotaCount::behind_until. The end of time while a resource is being listed: nothing is
  // lowered then, either.
  [[nodiscard]] base::TimePoint BehindUntil(const quota::Quota& quota) const;
  // What the quota counts of an object of this namespace with these facts now; of what is unknown
  // nothing is said.
  [[nodiscard]] quota::ResourceList UsageOf(const quota::Quota& quota,
                                            const quota::Evaluator& evaluator, std::string_view ns,
                                            const quota::Uid& uid, const quota::Facts& facts) const;

  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override;
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const override;
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override;
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;

 private:
  [[nodiscard]] bool MayBeDoneSoon(const UsageSource& source, base::Duration patience) const;
  [[nodiscard]] QuotaCount CountObjects(const quota::Quota& quota, base::Duration patience) const;
  std::vector<Obstacle> AddUsage(const UsageSource& source, const quota::Quota& quota,
                                 quota::Observed& observed) const;
  [[nodiscard]] base::TimePoint BehindUntil(const UsageSource& source) const;
  [[nodiscard]] quota::ResourceList KnownUsageOf(const quota::Evaluator& evaluator,
                                                 const TrackedResource& tracked,
                                                 std::string_view ns, const quota::Uid& uid,
                                                 const quota::Facts& facts) const;

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  ServedResources& served_;
  const Tracker& tracker_;
  const Pulse& pulse_;
  const NamespaceLabels* labels_ = nullptr;
  std::unordered_map<std::string, base::TimePoint> missed_;  // paths of classes not found
};

}  // namespace controllers
