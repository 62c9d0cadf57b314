#pragma once

// --break-glass: lets everything pass. It empties this installation's webhook configuration and
// writes on it that it is to stay so: daemons that run leave it alone until the annotation is taken
// away. What became of it is said on the standard output.

#include <boost/asio/io_context.hpp>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/base/error.h"

namespace manager {

// Runs the io_context to the end. Errors: kInvalidArgument for a configuration that can never work;
// others say why it still refuses.
base::Result<void> BreakGlass(boost::asio::io_context& io, const Options& options);

}  // namespace manager
