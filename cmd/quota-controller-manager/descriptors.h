#pragma once

// The process's limit of open files and sockets, and how it is divided. Clients that connect to us
// get only a part, so that our own connections and files (watches, writes, a certificate) and the
// kubelet's probes always find a descriptor.
//
// Any thread.

#include <cstddef>

namespace manager {

// Raises the soft limit to the hard one if possible. Call it once, at the start.
void RaiseDescriptorLimit();
// The current limit; a large number if there is none.
std::size_t DescriptorLimit();

// Returns how many of `limit` descriptors the clients of the webhook, or of another endpoint, may
// use.
std::size_t WebhookConnections(std::size_t limit);
std::size_t EndpointConnections(std::size_t limit);

}  // namespace manager
