#pragma once

// A client that downloads a collection, as the pods of a namespace, in the form in which the daemon
// asks for it, and does nothing with it: nobody can know the objects sooner. Blocks until it is
// done.

#include <string>

namespace bench {

// From the first request to the last byte; throws if a page fails.
double SecondsOfBareList(const std::string& kubeconfig, const std::string& path);

}  // namespace bench
