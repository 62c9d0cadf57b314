#pragma once

// Makes ClusterQuotas of the quotas of other tools: Capsule's Tenant, OpenShift's
// ClusterResourceQuota, HNC's HierarchicalResourceQuota and Rancher's Project. What has no
// counterpart is never left out in silence: each part of an object has a row that says what becomes
// of it. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/table.h"
#include "pkg/json/value.h"

namespace inspect {

// What becomes of a part of an object.
struct ImportRow {
  std::string from;   // the file, and "tenant.capsule.clastix.io/acme"
  std::string field;  // "spec.resourceQuotas.items[0]"
  std::string to;     // "clusterquota/acme", "stays", "nothing"
  std::string how;    // the namespaces that it selects, or why
  bool lost = false;  // it should have become something, and cannot
};

struct ImportedQuota {
  json::Value object;
  std::string from;  // the object, and its field
};

struct Imported {
  std::vector<ImportedQuota> quotas;
  std::vector<ImportRow> rows;
  [[nodiscard]] bool Complete() const;
};

// The resources that Import() knows, of their usual version.
std::vector<api::GroupVersionResource> ImportedResources();

// `where` of a manifest may be empty. `enforcement` is spec.enforcement of each ClusterQuota.
Imported Import(const std::vector<Manifest>& manifests, std::string_view enforcement);

// The ClusterQuotas as YAML, each with a comment that says what it is made of.
std::string ImportText(const Imported& imported);
Table ImportTable(const Imported& imported);

}  // namespace inspect
