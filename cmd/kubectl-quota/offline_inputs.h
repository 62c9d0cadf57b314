#pragma once

// The input files of `check` without a cluster: manifests by namespace, quotas, LimitRanges and
// usage.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/policies.h"
#include "cmd/kubectl-quota/quota_files.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// metadata.labels by namespace.
using LabelsByNamespace = std::map<std::string, json::Value>;

struct OfflineInputs {
  ManifestsByNamespace manifests;
  std::vector<FileQuotas> quotas;  // one of each API, first Kubernetes' own
  std::vector<quota::Quota> cluster_quotas;
  LabelsByNamespace labels;  // of the Namespaces in the files, after those of -f are applied
  std::vector<inspect::Manifest> limit_ranges;
  std::vector<std::string> doubts;  // about the files, for the verdict
  bool counted = false;             // the usage is that of counted quotas
  ClusterPolicies policies;         // of two with one name that of -f holds
  inspect::NodeCounter nodes_for;
  // Returns those of the namespace, as FileQuotas::Of().
  [[nodiscard]] std::vector<json::Value> LimitRangesOf(const std::string& ns) const;
  // Returns the usage of the namespace's quotas that should be told, and is not.
  [[nodiscard]] std::vector<std::string> UntoldIn(const std::string& ns) const;
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
