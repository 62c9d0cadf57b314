#pragma once

// The ClusterQuotas that limit namespaces, as far as the user may see them. If ClusterQuotas may
// not be listed, the AppliedClusterQuotas of each namespace show them. Single-threaded.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/forest.h"

namespace kubectl_quota {

class ClusterLimits {
 public:
  // `cluster` must outlive it.
  explicit ClusterLimits(Cluster& cluster) : cluster_(cluster) {}

  // Call first. There are no ClusterQuotas if the server does not serve them, or if `selector`,
  // which selects quotas of a namespace by their labels, is not empty. A failure is a warning,
  // unless the user may not list them.
  base::Task<void> Read(std::string selector);

  // Applies these ClusterQuotas, and counts what their namespaces use. What may not be read is a
  // warning. Errors: kMalformed, and of the connection.
  base::Task<base::Result<void>> Apply(std::vector<json::Value> manifests);

  // Returns those that limit a namespace after its `manifest`, which may be null, is applied. A
  // failure is a warning. Also warns if a status may be wrong.
  base::Task<inspect::Reached> In(std::string ns, json::Value manifest = {});
  // Returns all that may be listed.
  [[nodiscard]] std::vector<quota::Quota> Listed() const;

  // Adds `amounts` to the usage of a quota in later answers of In().
  void Charge(const std::string& name, const quota::ResourceList& amounts);

 private:
  // Returns what the namespaces of a listed quota use; nullopt, with a warning, if it is not known.
  base::Task<base::Result<std::optional<quota::ResourceList>>> UsedOf(std::string name);
  // `labelled`: a manifest of the namespace cannot be taken into account, which is a warning.
  base::Task<inspect::Reached> AppliedIn(std::string ns, bool labelled);

  Cluster& cluster_;
  std::unique_ptr<inspect::Forest> listed_;  // null: they may not be listed
  std::string unlisted_;                     // then why
  std::map<std::string, quota::ResourceList> charged_;
};

// Returns the ClusterQuotas that limit a namespace, or with "" all that may be listed.
base::Task<std::vector<quota::Quota>> ClusterQuotasIn(Cluster& cluster, std::string ns,
                                                      std::string selector);

}  // namespace kubectl_quota
