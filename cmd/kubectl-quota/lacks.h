#pragma once

// What `why` reads of the quotas of a namespace. Single-threaded.

#include <memory>
#include <vector>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/commands.h"
#include "pkg/inspect/why.h"

namespace kubectl_quota {

// Reads the quotas of every API in the session's namespace, and the classes that they need.
base::Task<base::Result<std::unique_ptr<Books>>> ReadBooks(Session& session);

// Tells what would make room, if quotas refuse: WhyAnswer::room. `books` must outlive it.
base::Task<base::Result<void>> FindRoom(Session& session, const Books& books,
                                        inspect::WhyAnswer& answer);

}  // namespace kubectl_quota
