#pragma once

// Builds AppliedClusterQuotas. They repeat a ClusterQuota for users who may read only their
// namespace. The object has the quota's name, and all data is in its status. Its owner is the
// ClusterQuota, so garbage collection deletes it when the ClusterQuota is deleted.
//
// Pure functions; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/api/resource.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace controllers {

const api::GroupVersionResource& AppliedResource();

struct AppliedContent {
  std::string uid;  // of the ClusterQuota
  std::string parent;
  quota::ClusterSpec::Enforcement enforcement = quota::ClusterSpec::Enforcement::kDeny;
  quota::ScopeSelector selector;
  quota::ResourceList guaranteed;
  quota::ResourceList guaranteed_below;  // kept free for its children (TreePlace::promised_below)
  quota::QuotaStatus status;
  quota::ResourceList available;     // as the status of the ClusterQuota says
  quota::ResourceList in_namespace;  // usage of this namespace; without names that are not counted
};

// True if two versions of a ClusterQuota give the same content, except for `in_namespace`.
bool SaysTheSame(const quota::Quota& a, const quota::Quota& b);
// The same, apart from `used` and `available`.
bool DiffersInUsageOnly(const quota::Quota& a, quota::Quota b);
// Returns the object to create.
json::Value AppliedObject(const std::string& ns, const std::string& quota,
                          const AppliedContent& content);
// Returns the JSON patch that gives a stored object with this resourceVersion the owners and the
// status of `object`. It keeps labels and annotations.
json::Value AppliedPatch(const json::Value& object, const std::string& version);
// True if the object has the label of objects that the daemon writes.
bool IsOurs(const json::Value& object);
// Objects with the same status and owners have the same digest.
std::uint64_t DigestOf(const json::Value& object);

}  // namespace controllers
