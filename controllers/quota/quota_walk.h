#pragma once

// Passes changes that affect many quotas to each quota, in steps between which the event loop runs
// other work. One walk over all quotas covers all changes that were collected before. Changes
// during a walk wait for the next one.
//
// Also has the children of a ClusterQuota recounted after the amounts changed that it leaves to
// them: the field `available` of a child depends on its ancestors. The children are enqueued with a
// delay, and not again before it ends. So a busy parent causes few writes, and each of ten thousand
// children is enqueued once in minutes.
//
// Single-threaded. All references must outlive it. Run() must have returned before it is destroyed.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controllers/quota/cluster/cluster_status.h"
#include "controllers/quota/events/quota_reporter.h"
#include "controllers/quota/observed_quotas.h"
#include "controllers/usage/tracker.h"
#include "pkg/queue/async_queue.h"

namespace controllers {

class QuotaWalk {
 public:
  // Quotas to recount go into `queue`, and their conditions are checked by `reporter`. `reach` and
  // `status` are null if the quotas are namespaced.
  QuotaWalk(base::Scheduler& scheduler, ObservedQuotas& quotas, const Tracker& tracker,
            queue::AsyncQueue<api::ObjectKey>& queue, QuotaReporter& reporter,
            const ClusterReach* reach, const ClusterStatus* status)
      : scheduler_(scheduler),
        quotas_(quotas),
        tracker_(tracker),
        queue_(queue),
        reporter_(reporter),
        reach_(reach),
        status_(status),
        wake_(scheduler.NewAlarm()) {}

  void RecountAll() { Pending().recount_all = true; }
  void ReportAll() { Pending().report_all = true; }
  // As UsageListener's. Evaluators are copied: the tracker may drop one before the walk visits the
  // quotas.
  void OnResourceState(const quota::Evaluator& evaluator);
  void OnClassChange(const quota::Evaluator& evaluator, const std::string& name);
  void OnClassState(const quota::Evaluator& evaluator);
  // The status of this ClusterQuota, or what it promises to its children, has changed.
  void OnParent(const std::string& parent);
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
    std::map<Key, quota::Evaluator> states;
    std::map<Key, quota::Evaluator> class_states;
    std::map<Key, Classes> classes;
  };
  // The parents whose children are being enqueued, and the last child that was.
  using Telling = std::map<std::string, std::string>;

  Changes& Pending();  // the changes for the next walk
  void Visit(const quota::Quota& quota, const Changes& changes);
  // Enqueues some more children. Returns true if there are more.
  bool Tell(Telling::value_type& telling);

  base::Scheduler& scheduler_;
  ObservedQuotas& quotas_;
  const Tracker& tracker_;
  queue::AsyncQueue<api::ObjectKey>& queue_;
  QuotaReporter& reporter_;
  const ClusterReach* reach_;
  const ClusterStatus* status_;
  std::optional<Changes> pending_;
  Telling telling_;
  std::unique_ptr<base::Alarm> wake_;
};

}  // namespace controllers
