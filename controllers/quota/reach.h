#pragma once

// Which namespaces the quotas of one quota API reach: a namespaced quota its own; a ClusterQuota
// those that it, or a quota below it, selects.
//
// No I/O; one thread.

#include <string_view>
#include <vector>

#include "controllers/quota/quota_store.h"
#include "pkg/api/resource.h"
#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/quota.h"
#include "pkg/quota/space.h"

namespace controllers {

class Reach {
 public:
  virtual ~Reach() = default;
  // The quotas that reach the namespace, in the order in which they are asked: the nearest first,
  // then up the tree.
  [[nodiscard]] virtual std::vector<api::ObjectKey> QuotasOf(std::string_view ns) const = 0;
  // The tree of its quotas; null: each has a namespace.
  [[nodiscard]] virtual const quota::QuotaTree* quota_tree() const { return nullptr; }
  // Where the ledgers have what the quota counts. Valid as long as the quota.
  [[nodiscard]] virtual quota::Space SpaceOf(const quota::Quota& quota) const = 0;
  // False: other quotas than those of QuotasOf() may reach the namespace.
  [[nodiscard]] virtual bool Known(std::string_view ns) const = 0;
};

// Each quota reaches its own namespace.
class OwnNamespace final : public Reach {
 public:
  // `store` outlives it.
  explicit OwnNamespace(const QuotaStore& store) : store_(store) {}

  [[nodiscard]] std::vector<api::ObjectKey> QuotasOf(std::string_view ns) const override {
    return store_.InNamespace(ns);
  }
  [[nodiscard]] quota::Space SpaceOf(const quota::Quota& quota) const override {
    return quota::SpaceOf(quota.key);
  }
  [[nodiscard]] bool Known(std::string_view /*ns*/) const override { return true; }

 private:
  const QuotaStore& store_;
};

}  // namespace controllers
