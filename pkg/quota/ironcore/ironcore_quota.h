#pragma once

// The quota API of an ironcore cloud, core.ironcore.dev ResourceQuota, as data: what the machines,
// volumes and buckets of a namespace use, by amount and by class (IEP-7 of ironcore-dev/ironcore).
// Each file of definitions/ is a UsageDefinition; add a file to add one. Values; any thread.

#include "pkg/quota/quota.h"

namespace quota {

QuotaApi IroncoreQuotaApi();

}  // namespace quota
