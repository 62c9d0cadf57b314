#pragma once

// Metrics of one of our HTTP servers: what it holds, and what it refused. Single-threaded.

#include <string>

#include "pkg/http/server.h"
#include "pkg/metrics/registry.h"

namespace manager {

// Reads the server's numbers at each scrape. `name` ("admission", "metrics") is the label `server`.
// The server must outlive the registry's last scrape.
void ExposeServer(metrics::Registry& registry, const std::string& name, const http::Server& server);

}  // namespace manager
