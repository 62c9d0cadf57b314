#pragma once

// The quota API of ClusterQuota as data: one limit for the usage of all selected namespaces
// together. Its limits have the names of ResourceQuota, and core's evaluators count them. Values;
// any thread.

#include "pkg/quota/quota.h"

namespace quota {

QuotaApi ClusterQuotaApi();

}  // namespace quota
