#pragma once

// The quota API of ClusterQuota, as data: one limit over what all selected namespaces use together.
// What counts under which name is as in a ResourceQuota: the evaluators are core's. Values; any
// thread.

#include "pkg/quota/quota.h"

namespace quota {

QuotaApi ClusterQuotaApi();

}  // namespace quota
