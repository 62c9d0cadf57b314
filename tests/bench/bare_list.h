#pragma once

// A client that downloads the pods of a namespace in the form in which the daemon asks for them,
// and does nothing with them: no controller can know them sooner. Blocks until it is done.

#include <string>

namespace bench {

// From the first request to the last byte; throws if a page fails.
double SecondsOfBareList(const std::string& kubeconfig, const std::string& ns);

}  // namespace bench
