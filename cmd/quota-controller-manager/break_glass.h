#pragma once

// --break-glass stops enforcing. It empties this installation's webhook configuration and sets an
// annotation on it; running daemons leave it empty until the annotation is removed. Prints the
// outcome to the standard output.

#include <boost/asio/io_context.hpp>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/error.h"

namespace manager {

// Runs the io_context to the end. Errors: kInvalidArgument for a configuration that can never work;
// others say why requests are still refused.
base::Result<void> BreakGlass(boost::asio::io_context& io, const Options& options);

}  // namespace manager
