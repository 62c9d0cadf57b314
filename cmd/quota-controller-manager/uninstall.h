#pragma once

// --uninstall removes what daemons of this installation left on the API server, and nothing else:
// first the webhook configuration, so that nothing is refused any more, then all
// AppliedClusterQuotas and DefinedQuotas, the certificate's Secret and the lease. Only objects with
// our label are deleted. Each is printed with its outcome.
//
// The daemons must have been stopped, because they would create everything again. If one still
// renews its lease, or restores an object, it is named and nothing more is done.

#include <boost/asio/io_context.hpp>
#include <ostream>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/api/resource.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace manager {

// Runs the io_context to the end. Prints to the standard output. Errors: kInvalidArgument for a
// configuration that can never work; others say what could not be removed, and why.
base::Result<void> Uninstall(boost::asio::io_context& io, const Options& options);

// The same by this client, for the installation with this lease. Prints to `out`.
base::Task<base::Result<void>> Uninstall(client::ApiClient& client, base::Scheduler& scheduler,
                                         Options options, api::ObjectKey lease, std::ostream& out);

}  // namespace manager
