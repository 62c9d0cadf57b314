#pragma once

// UsageDefinitions for the commands that count: the names that they add to the quota APIs.
// Single-threaded.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/workload_kinds.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"
#include "pkg/quota/usage/usage_definition.h"

namespace kubectl_quota {

inline constexpr inspect::WorkloadKind kUsageDefinition{quota::usage::kKind, quota::usage::kGroup};

// Puts the evaluators of the definitions that would be in force into the quota API. Does nothing if
// its quotas take no such names. `kinds` are those that the cluster serves; null: objects are not
// read from a cluster, so the version that the daemon reads does not matter.
void Define(const std::vector<json::Value>& definitions, quota::QuotaApi& api,
            const client::Discovered* kinds = nullptr);

// Returns the quota API with the definitions of the cluster.
base::Task<quota::QuotaApi> Defined(Cluster& cluster, quota::QuotaApi api);

// Returns what only definitions that are not known can tell of a quota, each "quota TITLE limits
// NAME, and …". By `evaluator`, if it is not null, they are those that its objects may be about.
std::vector<std::string> UndefinedOf(const quota::QuotaApi& api, const quota::Quota& quota,
                                     const std::string& title, const quota::Evaluator* evaluator);

// Returns an error for the first of these definitions, which are of files, that the server would
// refuse.
base::Result<void> CheckDefinitions(const std::vector<json::Value>& definitions);

}  // namespace kubectl_quota
