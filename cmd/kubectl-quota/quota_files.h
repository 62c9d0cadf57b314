#pragma once

// The quotas of files, with the usage in their status. Single-threaded.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/policies.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// The quotas of one API in the files.
struct FileQuotas {
  ServedQuotaApi of;
  std::vector<quota::Quota> quotas = {};
  std::vector<quota::Quota> counted = {};  // with the usage of quotas of the same names, if known
  // Returns those of the namespace, which include those without one. For manifests of an unknown
  // namespace, "", all of them. What is not told to be used is not.
  [[nodiscard]] std::vector<quota::Quota> Of(const std::string& ns) const;
  // Returns the same with the usage that is told.
  [[nodiscard]] std::vector<quota::Quota> ToldOf(const std::string& ns) const;
};

// What files of quotas have.
struct ReadQuotaFiles {
  std::vector<FileQuotas> quotas;  // one of each API, first Kubernetes' own
  std::vector<quota::Quota> cluster_quotas;
  std::vector<inspect::Manifest> limit_ranges;
  std::map<std::string, json::Value> namespaces;  // by name
  ClusterPolicies policies;
  std::vector<std::string> doubts;  // about limits that a server would refuse
};

// Errors: as QuotaOf(); kInvalidArgument if a file cannot be read, or if there is no quota.
base::Result<ReadQuotaFiles> ReadQuotas(const std::vector<std::string>& paths);

// True if what is stated for one of the namespaces holds for the other; "" is any.
bool Meet(std::string_view one, std::string_view other);
// Sets the usage of the quota's names that are in `used`.
void SetUsed(const quota::ResourceList& used, quota::Quota& quota);
// Sets it as in the counted quota of the same name.
void SetUsedAs(const std::vector<quota::Quota>& counted, std::string_view ns, quota::Quota& quota);
// Sets the usage of names without a count to zero.
void CountRest(quota::Quota& quota);

}  // namespace kubectl_quota
