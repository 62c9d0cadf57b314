#pragma once

// --break-glass stops enforcing. It empties this installation's webhook configuration and sets an
// annotation on it; running daemons leave it empty until the annotation is removed. With
// --break-glass-for a second annotation says how long that lasts; they remove both themselves then.
// So a deletion of the installation that ends early does not end enforcement.

#include <boost/asio/io_context.hpp>
#include <ostream>
#include <string>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/api_client.h"

namespace manager {

// Runs the io_context to the end. Prints the outcome to the standard output. Errors:
// kInvalidArgument for a configuration that can never work; others say why requests are still
// refused.
base::Result<void> BreakGlass(boost::asio::io_context& io, const Options& options);

// The same by this client, for the installation with this lease, "NAMESPACE/NAME", for this long;
// zero: for good. Prints to `out`.
base::Task<base::Result<void>> BreakGlass(client::ApiClient& client, std::string installation,
                                          base::Duration lasts, std::ostream& out);

}  // namespace manager
