#pragma once

// The objects that a quota counts: those of one namespace, or those of a group of namespaces.

#include <string_view>

#include "pkg/api/resource.h"

namespace quota {

// Exactly one of the two is set. A view: valid as long as the key that it was made from.
struct Space {
  std::string_view ns;
  std::string_view group;  // Ledger::SetGroups
};

// Returns the space of a quota with this key. A quota without a namespace is a ClusterQuota, and
// its group has its name.
inline Space SpaceOf(const api::ObjectKey& quota) {
  if (quota.ns.empty()) return {.ns = {}, .group = quota.name};
  return {.ns = quota.ns, .group = {}};
}

}  // namespace quota
