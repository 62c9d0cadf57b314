#pragma once

// What an HTTP server of ours holds, and whom it turned away, as metrics. Single-threaded.

#include <string>

#include "pkg/http/server.h"
#include "pkg/metrics/registry.h"

namespace manager {

// Reads the server's numbers at each scrape; `server` ("admission", "metrics") is the label. The
// server outlives the registry's last scrape.
void ExposeServer(metrics::Registry& registry, const std::string& name, const http::Server& server);

}  // namespace manager
