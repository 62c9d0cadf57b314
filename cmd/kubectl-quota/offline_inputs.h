#pragma once

// The input files of `check` without a cluster: manifests by namespace, quotas, LimitRanges and
// usage.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// metadata.labels by namespace.
using LabelsByNamespace = std::map<std::string, json::Value>;

struct OfflineInputs {
  ManifestsByNamespace manifests;
  std::vector<quota::Quota> quotas;
  std::vector<quota::Quota> cluster_quotas;
  LabelsByNamespace labels;  // of the Namespaces in the files, after those of -f are applied
  inspect::Surroundings surroundings;
  // Returns the quotas of the namespace and those without a namespace.
  [[nodiscard]] std::vector<quota::Quota> QuotasOf(const std::string& ns) const;
  // Returns the namespaces of manifests without known labels, if some ClusterQuota selects by
  // labels.
  [[nodiscard]] std::vector<std::string> Unlabelled() const;
};

base::Result<OfflineInputs> ReadOffline(const Options& options);

}  // namespace kubectl_quota
