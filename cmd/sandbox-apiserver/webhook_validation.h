#pragma once

// The errors for which an API server refuses a webhook configuration (kubernetes v1.36.3,
// pkg/apis/admissionregistration/validation). Expressions of matchConditions must be there, but are
// not compiled. No I/O; any thread.

#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"

namespace sandbox {

// REQUIRES: defaults were applied.
FieldErrors ValidateWebhookConfiguration(const json::Value& configuration);

}  // namespace sandbox
