#pragma once

// Which namespaces use most of what is scarcest of a ClusterQuota. It may reach ten thousand, so
// they are looked at in steps, and not often.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "controllers/quota/cluster_reach.h"
#include "controllers/quota/observed_usage.h"
#include "controllers/quota/quota_store.h"
#include "pkg/base/scheduler.h"
#include "pkg/json/value.h"
#include "pkg/queue/work_queue.h"

namespace controllers {

class LargestNamespaces {
 public:
  static constexpr std::size_t kMost = 20;
  // What it refers to outlives it. `on_found`: they are others than before, or use something else.
  LargestNamespaces(base::Scheduler& scheduler, const ClusterReach& reach, const QuotaStore& store,
                    const ObservedUsage& usage,
                    std::function<void(const api::ObjectKey& key)> on_found);

  // What the quota counts has changed: it is looked at again, a while later.
  void OnUsed(const api::ObjectKey& key);
  void Forget(const api::ObjectKey& key) { found_.erase(key); }
  // As status.largest has them; null: not known yet.
  [[nodiscard]] const json::Array* Find(const api::ObjectKey& key) const;
  // Until cancelled.
  base::Task<void> Run();

 private:
  base::Task<void> LookAt(api::ObjectKey key);

  const ClusterReach& reach_;
  const QuotaStore& store_;
  const ObservedUsage& usage_;
  std::function<void(const api::ObjectKey& key)> on_found_;
  queue::WorkQueue<api::ObjectKey> due_;
  std::map<api::ObjectKey, json::Array> found_;
  std::unique_ptr<base::Alarm> wake_;
};

}  // namespace controllers
