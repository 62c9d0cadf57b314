#pragma once

// Finds the quotas that a change concerns, and has them recounted or reported.
//
// A change that concerns many quotas is passed to each of them in steps, between which the event
// loop runs other work. One walk over all quotas covers all such changes that were collected
// before. Changes during a walk wait for the next one.
//
// Also has the children of a ClusterQuota recounted after the amounts changed that it leaves to
// them: the field `available` of a child depends on its ancestors. The children are enqueued with a
// delay, and not again before it ends. So a busy parent causes few writes, and each of ten thousand
// children is enqueued once in minutes.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controllers/quota/cluster/cluster_listener.h"
#include "controllers/quota/cluster/cluster_quotas.h"
#include "controllers/quota/observed_quotas.h"
#include "pkg/queue/async_queue.h"

namespace controllers {

class QuotaChanges final : public QuotaListener, public UsageListener {
 public:
  // Quotas to recount go into `queue`, and their conditions are checked by `reporter`. `cluster` is
  // null if the quotas are namespaced. All references must outlive Run() and every other call. They
  // are not used before the first call.
  QuotaChanges(base::Scheduler& scheduler, const QuotaControllerOptions& options,
               ObservedQuotas& quotas, Tracker& tracker, const ObservedUsage& usage,
               queue::AsyncQueue<api::ObjectKey>& queue, QuotaReporter& reporter,
               const std::unique_ptr<ClusterQuotas>& cluster)
      : scheduler_(scheduler),
        options_(options),
        quotas_(quotas),
        tracker_(tracker),
        usage_(usage),
        queue_(queue),
        reporter_(reporter),
        cluster_(cluster),
        wake_(scheduler.NewAlarm()) {}

  // As QuotaController::SetClusterListener().
  void SetClusterListener(ClusterListener* listener) { listener_ = listener; }

  void OnQuota(const quota::Quota* before, const quota::Quota* after) override;
  void OnQuotasSynced() override;
  void OnUsageChange(const quota::Evaluator& evaluator, const quota::LedgerChange& change) override;
  // Evaluators are copied: the tracker may drop one before the walk visits the quotas.
  void OnResourceStates(const Evaluators& evaluators) override;
  void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) override;
  void OnClassState(const quota::Evaluator& evaluator) override;
  void OnShown(std::string_view ns, const quota::Uid& uid) override;
  // As QuotaController::ChangeEvaluator().
  void ChangeEvaluator(const api::GroupResource& resource, const std::function<void()>& change);
  // The hooks of ClusterReach.
  [[nodiscard]] ClusterReach::Hooks ReachHooks();
  // Which quotas reach a namespace.
  [[nodiscard]] const Reach& reach() const {
    if (cluster_) return cluster_->reach;
    return quotas_.own_namespace();
  }

  void RecountAll() { Pending().recount_all = true; }
  void ReportAll() { Pending().report_all = true; }
  // Runs until cancelled.
  base::Task<void> Run();

 private:
  // A resource may have had several evaluators since.
  using Key = std::pair<api::GroupResource, std::uint64_t>;  // with the evaluator's revision
  struct Classes {
    quota::Evaluator evaluator;
    std::set<std::string> names;  // that were added, changed or removed
  };
  struct Changes {
    bool recount_all = false;
    bool report_all = false;
    std::set<api::GroupResource> states;
    std::map<Key, quota::Evaluator> class_states;
    std::map<Key, Classes> classes;
  };
  // The parents whose children are being enqueued, and the last child that was.
  using Telling = std::map<std::string, std::string>;

  void NoticeConstraints();
  Changes& Pending();  // the changes for the next walk
  void Visit(const quota::Quota& quota, const Changes& changes);
  // The status of this ClusterQuota, or what it promises to its children, has changed.
  void OnParent(const std::string& parent);
  // Enqueues some more children. Returns true if there are more.
  bool Tell(Telling::value_type& telling);

  base::Scheduler& scheduler_;
  const QuotaControllerOptions& options_;
  ObservedQuotas& quotas_;
  Tracker& tracker_;
  const ObservedUsage& usage_;
  queue::AsyncQueue<api::ObjectKey>& queue_;
  QuotaReporter& reporter_;
  const std::unique_ptr<ClusterQuotas>& cluster_;
  ClusterListener* listener_ = nullptr;
  std::optional<Changes> pending_;
  Telling telling_;
  std::unique_ptr<base::Alarm> wake_;
};

}  // namespace controllers
