#pragma once

// One task on the API server, for the flags after which the program exits: --uninstall and
// --break-glass.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace manager {

// `lease` is the lease of the installation that the options name.
using OnceTask = std::function<base::Task<base::Result<void>>(
    client::ApiClient& client, base::Scheduler& scheduler, api::ObjectKey lease)>;

// Runs the io_context to the end. Returns what the task returns. Errors: also kInvalidArgument for
// a configuration that can never work. `name` is for the log.
base::Result<void> RunOnce(boost::asio::io_context& io, const Options& options, std::string name,
                           const OnceTask& task);

}  // namespace manager
