#pragma once

// A client that downloads a collection, for example the pods of a namespace, in the format that the
// daemon requests, and does nothing with it: no controller can have the objects sooner. Blocks
// until it is done.

#include <string>

namespace bench {

// From the first request to the last byte; throws if a page fails.
double SecondsOfBareList(const std::string& kubeconfig, const std::string& path);

}  // namespace bench
