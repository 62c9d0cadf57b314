#pragma once

// The command line as a value. Flags exist in flags.cc and nowhere else.

#include <optional>
#include <string>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/http/server.h"

namespace manager {

struct Options {
  std::string kubeconfig;  // "" : in-cluster, else $KUBECONFIG, else ~/.kube/config
  std::string context;     // "" : the kubeconfig's current-context
  std::vector<std::string> quota_apis{"core"};
  base::Duration resync_period = std::chrono::minutes(5);
  std::optional<http::BindAddress> metrics;  // nullopt: not served
  std::optional<http::BindAddress> health;
};

// Parses the process's arguments. --help and --version print and exit with 0; an unknown flag or
// one without its value ends the process with one line and 2. Errors: kInvalidArgument, naming the
// flag.
base::Result<Options> ParseFlags(int argc, char** argv);

// "0.1.0", as built.
std::string Version();

}  // namespace manager
