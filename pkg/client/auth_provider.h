#pragma once

// The auth-providers of kubeconfigs (client-go v0.36.3, plugin/pkg/client/auth). Of them only oidc
// is left, and only its id-token is used: kubectl renews it and writes it into the kubeconfig.
// Pure; any thread.

#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace client {

// Returns the id-token of oidc if it does not expire within ten seconds. Errors: kInvalidArgument,
// with what to do. The token is never quoted.
base::Result<std::string> TokenOfAuthProvider(std::string_view name, const std::string& id_token,
                                              base::WallTime now);

}  // namespace client
