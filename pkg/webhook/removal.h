#pragma once

// Deletes the objects that an installation left on the API server. Deletes only objects with our
// label that belong to this installation or to none, and only in the version that was read.
//
// Coroutines; one thread.

#include <chrono>
#include <string>

#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace webhook {

struct Removal {
  enum class Kind { kDeleted, kAbsent, kNotOurs, kAnothers } kind = Kind::kAbsent;
  std::string installation;  // kAnothers: the owner
};

// Errors: those of the server; kConflict if the object changed after it was read.
base::Task<base::Result<Removal>> RemoveOurs(client::ApiClient& client, std::string path,
                                             std::string installation,
                                             std::chrono::milliseconds timeout);

}  // namespace webhook
