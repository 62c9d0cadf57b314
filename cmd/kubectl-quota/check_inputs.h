#pragma once

// The input files of `check`: manifests by namespace and, offline, quotas, LimitRanges and usage.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

using ManifestsByNamespace = std::map<std::string, std::vector<inspect::Manifest>>;

// True for a Namespace with a name.
bool IsNamespace(const inspect::Manifest& manifest);

// Returns all manifests of -f. Those without a namespace are put into `ns`, a Namespace beside the
// objects in it. Errors: kInvalidArgument, naming the file, its line or its object.
base::Result<ManifestsByNamespace> ReadGrouped(const Options& options, const std::string& ns);

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
