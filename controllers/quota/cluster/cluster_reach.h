#pragma once

// Which namespaces ClusterQuotas reach. Matches the labels of all namespaces with the selectors of
// quotas, and reports to which quotas a namespace belongs.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/quota/base/reach.h"
#include "controllers/quota/cluster/namespace_watch.h"
#include "controllers/usage/namespace_labels.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/quota/cluster/limited_places.h"
#include "pkg/quota/cluster/quota_tree.h"

namespace controllers {

class ClusterReach final : public Reach, public NamespaceLabels {
 public:
  struct Hooks {
    // From now on exactly the quotas of these names reach the namespace.
    std::function<void(const std::string& ns, std::vector<std::string> groups)> set_groups;
    // The namespaces that the quota reaches, or its place in the tree, may have changed.
    std::function<void(const api::ObjectKey& key)> on_moved;
    // The quota leaves other amounts to each of its children.
    std::function<void(const std::string& quota)> on_promises;
    std::function<void()> on_state;  // synced(), or a failure of the watch, may have changed
    // Returns the resources that these names limit. Null: places() is not used.
    std::function<std::set<api::GroupResource>(const quota::ResourceList& hard)> limited_by;
  };
  // `stalls` must outlive it.
  ClusterReach(const TrackingContext& context, const StallDetector& stalls, Hooks hooks);

  // As in QuotaListener.
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  void OnQuotasSynced();
  // The resources that the names of the quota limit may be others.
  void OnEvaluator(const quota::Quota& quota) { Limit(nullptr, quota); }
  // Sets Promised() of a quota that is known.
  void SetPromised(const std::string& quota, quota::ResourceList promised);
  // Runs until cancelled.
  base::Task<void> Run();
  // As NamespaceWatch::Relist().
  void Relist() { watch_.Relist(); }

  [[nodiscard]] std::vector<api::ObjectKey> QuotasOf(std::string_view ns) const override;
  [[nodiscard]] bool Known(std::string_view ns) const override;
  // True if the tree has all namespaces and all quotas.
  [[nodiscard]] bool synced() const;
  [[nodiscard]] const std::optional<base::Error>& trouble() const { return watch_.trouble(); }
  [[nodiscard]] std::optional<Obstacle> Incomplete(base::Duration patience) const override;
  [[nodiscard]] bool HasShown(std::string_view ns) const override {
    return tree_.KnowsNamespace(ns);
  }
  [[nodiscard]] base::TimePoint BehindUntil(std::string_view quota) const override;
  [[nodiscard]] std::size_t size() const override { return watch_.size(); }
  [[nodiscard]] std::string Newest() const override { return watch_.newest(); }
  [[nodiscard]] bool Reaches(std::string_view version) const override {
    return watch_.Reaches(version);
  }
  [[nodiscard]] const quota::QuotaTree& tree() const { return tree_; }
  // Where the quotas limit each resource. Empty without Hooks::limited_by.
  [[nodiscard]] const quota::LimitedPlaces& places() const { return places_; }
  [[nodiscard]] const quota::QuotaTree* quota_tree() const override { return &tree_; }

 private:
  using Labels = NamespaceWatch::Labels;
  void OnNamespace(const std::string& ns, Labels labels);
  void Take(const std::string& ns, Labels labels);
  void Tell(const quota::QuotaTree::Change& change);
  void Limit(const quota::Quota* before, const quota::Quota& after);

  TrackingContext context_;
  const StallDetector& stalls_;
  Hooks hooks_;
  quota::QuotaTree tree_;
  quota::LimitedPlaces places_;
  std::map<std::string, Labels, std::less<>> waiting_;  // namespaces to be put into the tree
  // Quotas that lost a namespace lately, and until when they do not lower `used`.
  std::map<std::string, base::TimePoint, std::less<>> losing_;
  bool quotas_synced_ = false;
  base::TaskGroup tasks_;
  std::unique_ptr<base::Alarm> wake_;  // woken when a namespace can be put into the tree
  const base::TimePoint started_;
  NamespaceWatch watch_;
};

}  // namespace controllers
