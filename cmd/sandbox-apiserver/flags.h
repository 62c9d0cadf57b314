#pragma once

// The command line of sandbox-apiserver.

#include <string>

#include "cmd/sandbox-apiserver/api_server.h"
#include "pkg/base/error.h"

namespace sandbox_apiserver {

struct Flags {
  sandbox::ApiServerOptions server;
  std::string kubeconfig_out;  // "": do not write one
};

// --help and --version exit with 0, a flag that gflags refuses exits with 2. Errors: an invalid
// value, naming the flag.
base::Result<Flags> ParseFlags(int argc, char** argv);

}  // namespace sandbox_apiserver
