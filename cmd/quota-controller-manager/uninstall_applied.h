#pragma once

// The part of --uninstall about AppliedClusterQuotas: deletes those that daemons wrote, in all
// namespaces. Coroutines; one thread.

#include <cstddef>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace manager {

struct AppliedRemoval {
  std::size_t deleted = 0;
  std::size_t namespaces = 0;  // in which some were deleted
  std::size_t foreign = 0;     // without our label, left unchanged
};

// Ends at `until`, even if some are left. Errors: those of the server, and kTimeout, with the
// number of namespaces that are left.
base::Task<base::Result<AppliedRemoval>> RemoveApplied(client::ApiClient& client,
                                                       base::Scheduler& scheduler,
                                                       base::TimePoint until);

// True if there is an AppliedClusterQuota with our label.
base::Task<base::Result<bool>> AnyApplied(client::ApiClient& client);

}  // namespace manager
