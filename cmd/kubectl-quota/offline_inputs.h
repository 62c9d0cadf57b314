#pragma once

// The input files of `check` without a cluster: manifests by namespace, quotas, LimitRanges and
// usage.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/policies.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// metadata.labels by namespace.
using LabelsByNamespace = std::map<std::string, json::Value>;

struct OfflineInputs {
  ManifestsByNamespace manifests;
  std::vector<quota::Quota> quotas;
  std::vector<quota::Quota> counted;  // with the usage of quotas of the same names, if known
  std::vector<quota::Quota> cluster_quotas;
  LabelsByNamespace labels;  // of the Namespaces in the files, after those of -f are applied
  std::vector<inspect::Manifest> limit_ranges;
  ClusterPolicies policies;  // of two with one name that of -f holds
  inspect::NodeCounter nodes_for;
  // Return what holds in the namespace, which includes everything without a namespace. For
  // manifests of an unknown namespace, "", everything holds.
  [[nodiscard]] std::vector<quota::Quota> QuotasOf(const std::string& ns) const;
  [[nodiscard]] std::vector<json::Value> LimitRangesOf(const std::string& ns) const;
  // Without LimitRanges.
  [[nodiscard]] inspect::Surroundings SurroundingsOf() const;
  // True if the namespace is among the manifests, and nothing is used in it.
  [[nodiscard]] bool IsNew(const std::string& ns) const;
  // Returns the namespaces of manifests without known labels, if some ClusterQuota selects by
  // labels.
  [[nodiscard]] std::vector<std::string> Unlabelled() const;
};

base::Result<OfflineInputs> ReadOffline(const Options& options);

}  // namespace kubectl_quota
