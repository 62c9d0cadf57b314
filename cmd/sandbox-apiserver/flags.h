#pragma once

// The command line of sandbox-apiserver.

#include <string>

#include "pkg/base/error.h"
#include "pkg/sandbox/api_server.h"

namespace sandbox_apiserver {

struct Flags {
  sandbox::ApiServerOptions server;
  std::string kubeconfig_out;  // "": none is written
};

// --help and --version end the process with 0, a flag that gflags refuses with 2. Errors: a value
// that cannot be used, naming the flag.
base::Result<Flags> ParseFlags(int argc, char** argv);

}  // namespace sandbox_apiserver
