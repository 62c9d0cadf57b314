#pragma once

// One reader for each kind of which Import() makes ClusterQuotas. Pure; any thread.

#include "pkg/inspect/import_draft.h"
#include "pkg/json/value.h"

namespace inspect {

// Capsule's Tenant: quotas of the scope Tenant, and the limits of custom resources in annotations.
void ImportTenant(const json::Value& tenant, ImportDraft& draft);
void ImportClusterResourceQuota(const json::Value& quota, ImportDraft& draft);
void ImportHierarchicalQuota(const json::Value& quota, ImportDraft& draft);
void ImportProject(const json::Value& project, ImportDraft& draft);

}  // namespace inspect
