#pragma once

// Applies the user entry of a context to a connection: part of context_resolver.h, with its rules.

#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/entry_place.h"

namespace client {

// Reads the certificate and token files of the user. REQUIRES: the server of `into` is set; one
// that is not https gets no credential. Errors: kInvalidArgument, naming place and field.
base::Result<void> ApplyUser(const Place& place, const UserEntry& user, const Caller& caller,
                             ClusterConfig& into);

}  // namespace client
