#pragma once

// Taking away what an installation left on the API server: only objects that carry our label and
// belong to this installation, or to nobody, and only as they were read.
//
// Coroutines; one thread.

#include <chrono>
#include <string>

#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace admission {

struct Removal {
  enum class Kind { kDeleted, kAbsent, kNotOurs, kAnothers } kind = Kind::kAbsent;
  std::string installation;  // kAnothers: whose it is
};

// Errors: the server's; kConflict if it changed meanwhile.
base::Task<base::Result<Removal>> RemoveOurs(client::ApiClient& client, std::string path,
                                             std::string installation,
                                             std::chrono::milliseconds timeout);

}  // namespace admission
