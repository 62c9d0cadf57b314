#pragma once

// The part of --uninstall about the objects that daemons write into namespaces:
// AppliedClusterQuotas and DefinedQuotas. Coroutines; one thread.

#include <cstddef>

#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace manager {

struct ObjectsRemoval {
  std::size_t deleted = 0;
  std::size_t namespaces = 0;  // in which some were deleted
  std::size_t foreign = 0;     // without our label, left unchanged
};

// Deletes the objects of this resource that have our label, in all namespaces. Ends at `until`,
// even if some are left. Errors: those of the server, and kTimeout, with the number of namespaces
// that are left.
base::Task<base::Result<ObjectsRemoval>> RemoveObjects(client::ApiClient& client,
                                                       base::Scheduler& scheduler,
                                                       api::GroupVersionResource resource,
                                                       base::TimePoint until);

// True if there is an object of this resource with our label.
base::Task<base::Result<bool>> AnyObject(client::ApiClient& client,
                                         api::GroupVersionResource resource);

}  // namespace manager
