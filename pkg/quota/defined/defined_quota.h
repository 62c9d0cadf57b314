#pragma once

// DefinedQuota: the part of a ResourceQuota that the API server's own quota plugin leaves alone,
// its limits on names of UsageDefinitions. The plugin decides the rest, and writes the
// ResourceQuota for each object that it admits. Reservations there would make its writes fail with
// conflicts, so the part is an object of its own.
//
// Pure; any thread.

#include "pkg/api/resource.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace quota {

// DefinedQuotas count as ResourceQuotas do.
QuotaApi DefinedQuotaApi();

const api::GroupVersionResource& DefinedQuotas();

// The limits on names that a UsageDefinition may say, whether one does or not.
ResourceList DefinableLimits(const ResourceList& hard);

// True if some limit is definable.
bool HasDefinedPart(const Quota& resource_quota);

// The DefinedQuota of this ResourceQuota, without its status. It has the same name, and the
// ResourceQuota owns it. REQUIRES: HasDefinedPart().
json::Value DefinedPartOf(const Quota& resource_quota);

// True if `defined` limits what DefinedPartOf(resource_quota) does, and has the same owner.
// REQUIRES: HasDefinedPart(resource_quota).
bool IsDefinedPart(const Quota& defined, const Quota& resource_quota);

}  // namespace quota
