#pragma once

// The measured programs: this project's daemon, as it is and with JSON only, and Kubernetes'
// built-in quota controller.

#include <memory>
#include <string>

#include "tests/e2e/harness/process.h"

namespace bench {

enum class Contender { kDaemon, kDaemonOfJson, kBuiltin };
std::string NameOf(Contender contender);

// Starts it against the server of this kubeconfig, with its log in `folder`.
std::unique_ptr<e2e::Process> Start(Contender contender, const std::string& kubeconfig,
                                    const std::string& folder);

}  // namespace bench
