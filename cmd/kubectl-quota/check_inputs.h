#pragma once

// The files of `check`: manifests by namespace and, offline, quotas, LimitRanges and what is used.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

using ManifestsByNamespace = std::map<std::string, std::vector<inspect::Manifest>>;

// All manifests of -f; those that name no namespace are in `ns`. Errors: kInvalidArgument, naming
// the file, its line or its object.
base::Result<ManifestsByNamespace> ReadGrouped(const Options& options, const std::string& ns);

struct OfflineInputs {
  ManifestsByNamespace manifests;
  std::vector<quota::Quota> quotas;
  inspect::Surroundings surroundings;
  // Those of the namespace, and those that name none.
  [[nodiscard]] std::vector<quota::Quota> QuotasOf(const std::string& ns) const;
};

base::Result<OfflineInputs> ReadOffline(const Options& options);

}  // namespace kubectl_quota
