#pragma once

// Finds the namespaces that use most of the scarcest name of a ClusterQuota. There may be ten
// thousand, so the search runs in steps, and rarely.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <map>

#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/cluster/cluster_reach.h"
#include "controllers/usage/observed_usage.h"
#include "pkg/base/scheduler.h"
#include "pkg/json/value.h"
#include "pkg/queue/async_queue.h"

namespace controllers {

class LargestNamespaces {
 public:
  static constexpr std::size_t kMost = 20;
  // All references must outlive it. A quota goes into `queue` when the namespaces or their usage
  // differ from the last result.
  LargestNamespaces(base::Scheduler& scheduler, const ClusterReach& reach, const QuotaStore& store,
                    const ObservedUsage& usage, queue::AsyncQueue<api::ObjectKey>& queue)
      : reach_(reach), store_(store), usage_(usage), queue_(queue), due_(scheduler) {}

  // The usage of the quota has changed. Searches again after a while.
  void OnUsed(const api::ObjectKey& key);
  void Forget(const api::ObjectKey& key) { found_.erase(key); }
  // The value for status.largest; null: not known yet.
  [[nodiscard]] const json::Array* Find(const api::ObjectKey& key) const;
  // Runs until cancelled.
  base::Task<void> Run();

 private:
  base::Task<void> LookAt(api::ObjectKey key);
  // Returns true if it is known how much of this name the namespaces use, or, if it is "", that
  // they use nothing. Otherwise searches again after a while.
  bool CanCompare(const quota::Quota& quota, const std::string& scarcest);

  const ClusterReach& reach_;
  const QuotaStore& store_;
  const ObservedUsage& usage_;
  queue::AsyncQueue<api::ObjectKey>& queue_;
  queue::AsyncQueue<api::ObjectKey> due_;
  std::map<api::ObjectKey, json::Array> found_;
};

}  // namespace controllers
