#pragma once

// Which namespaces the quotas of one quota API reach. A namespaced quota reaches its own. A
// ClusterQuota reaches the namespaces that it, or a quota below it, selects.
//
// No I/O; one thread.

#include <string_view>
#include <vector>

#include "controllers/quota/base/quota_store.h"
#include "pkg/api/resource.h"
#include "pkg/quota/cluster/quota_tree.h"

namespace controllers {

class Reach {
 public:
  virtual ~Reach() = default;
  // The quotas that reach the namespace, in the order of the decision: the nearest first, then up
  // the tree.
  [[nodiscard]] virtual std::vector<api::ObjectKey> QuotasOf(std::string_view ns) const = 0;
  // The tree of the quotas; null if they are namespaced.
  [[nodiscard]] virtual const quota::QuotaTree* quota_tree() const { return nullptr; }
  // False if quotas beyond those of QuotasOf() may reach the namespace.
  [[nodiscard]] virtual bool Known(std::string_view ns) const = 0;
};

// Each quota reaches its own namespace.
class OwnNamespace final : public Reach {
 public:
  // `store` must outlive it.
  explicit OwnNamespace(const QuotaStore& store) : store_(store) {}

  [[nodiscard]] std::vector<api::ObjectKey> QuotasOf(std::string_view ns) const override {
    return store_.InNamespace(ns);
  }
  [[nodiscard]] bool Known(std::string_view /*ns*/) const override { return true; }

 private:
  const QuotaStore& store_;
};

}  // namespace controllers
