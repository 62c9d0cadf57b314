#pragma once

// How many files and sockets the process may have open, and how they are shared out: those who
// connect to us get no more than a part, so that what we must open ourselves (watches, writes, a
// certificate) and the probes of the kubelet always find one.
//
// Any thread.

#include <cstddef>

namespace manager {

// Lifts the soft limit to the hard one, as far as it goes. Once, at the start.
void RaiseDescriptorLimit();
// The limit as it is; a large number if there is none.
std::size_t DescriptorLimit();

// Of so many descriptors: connections of the webhook's callers, and of one other endpoint.
std::size_t WebhookConnections(std::size_t limit);
std::size_t EndpointConnections(std::size_t limit);

}  // namespace manager
