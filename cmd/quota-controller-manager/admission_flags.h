#pragma once

// The flags of admission: what is enforced, how the API server reaches the webhook, and how
// requests are decided. Internal to flags.cc.

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/error.h"

namespace manager {

// Sets the options of admission. REQUIRES: `options.quota_apis` is set. Errors: as ParseFlags().
base::Result<void> ParseAdmission(Options& options);

}  // namespace manager
