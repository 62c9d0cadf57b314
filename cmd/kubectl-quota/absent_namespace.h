#pragma once

// A namespace that does not exist. An API server lists nothing there, without an error, so an
// answer about a mistyped namespace would be that nothing is used. Single-threaded.

#include <optional>

#include "cmd/kubectl-quota/commands.h"

namespace kubectl_quota {

// Returns the server's error, with the name that may be meant, if the namespace that the command
// asks about does not exist. nullopt: it exists, or that is not known to the user, or the command
// asks about none. `check` has an answer of its own.
base::Task<std::optional<base::Error>> FindAbsentNamespace(Session& session);

}  // namespace kubectl_quota
