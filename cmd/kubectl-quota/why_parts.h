#pragma once

// Explains objects whose controllers make something else than pods of them: ironcore the ephemeral
// volumes of a machine, Karmada the binding of what a policy selects. Single-threaded.

#include <optional>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/commands.h"
#include "pkg/inspect/why.h"

namespace kubectl_quota {

// Returns nullopt if the object is none of these. `books` must outlive it.
base::Task<base::Result<std::optional<inspect::WhyAnswer>>> ExplainParts(Session& session,
                                                                         const Books& books,
                                                                         json::Value object);

}  // namespace kubectl_quota
