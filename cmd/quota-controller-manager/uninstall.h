#pragma once

// --uninstall: takes away what daemons of this installation left on the API server, and nobody
// else's: the webhook configuration first, so that nothing is refused any more, then the
// certificate's Secret and the lease. Only objects that carry our label go; each is named, with
// what became of it, on the standard output.
//
// Daemons must have been stopped, because they would make everything anew: one that still renews
// its lease, or restores the configuration, is named and nothing more is done.

#include <boost/asio/io_context.hpp>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/error.h"

namespace manager {

// Runs the io_context to the end. Errors: kInvalidArgument for a configuration that can never work;
// others say what could not be removed, and why.
base::Result<void> Uninstall(boost::asio::io_context& io, const Options& options);

}  // namespace manager
