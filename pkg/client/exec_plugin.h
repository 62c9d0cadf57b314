#pragma once

// Exec credential plugins (client-go v0.36.3, plugin/pkg/client/auth/exec): the input of a plugin
// and the meaning of its output. For a user it may ask on the terminal, and its standard error is
// ours. A daemon has no terminal: what a plugin writes to standard error becomes one log record
// (the first 4 KiB), unless standard input and standard error are a terminal, which then shows it.

#include <chrono>
#include <optional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"

namespace client {

struct ExecCredential {
  std::string token;
  std::string cert_pem;
  std::string key_pem;
  std::optional<base::WallTime> expiration;
};

// The value of KUBERNETES_EXEC_INFO. REQUIRES: config.exec.
std::string ExecInfo(const ClusterConfig& config);

// Parses a plugin's standard output. Errors: kMalformed with the reason, without quoting the
// output.
base::Result<ExecCredential> ParseExecCredential(std::string_view output,
                                                 std::string_view api_version);

// Runs the plugin of `config` once, for at most `timeout`. REQUIRES: config.exec. Errors name the
// command, and include the install hint if it does not exist.
base::Task<base::Result<ExecCredential>> RunExecPlugin(base::asio::any_io_executor executor,
                                                       ClusterConfig config,
                                                       std::chrono::milliseconds timeout);

}  // namespace client
