#pragma once

// The small HTTP endpoints of a daemon: health (pkg/debug/health.h) and /metrics. Other paths are
// 404, other methods than GET and HEAD 405.
//
// Single-threaded; what is served outlives the handler.

#include "pkg/debug/health.h"
#include "pkg/http/server.h"
#include "pkg/metrics/registry.h"

namespace debug {

struct Endpoints {
  Health* health = nullptr;              // null: no health endpoints
  metrics::Registry* metrics = nullptr;  // null: no /metrics
};

// For http::NewServer().
http::Handler NewHandler(Endpoints endpoints);

// What the handler sends.
http::Response Answer(const Endpoints& endpoints, const http::Request& request);

}  // namespace debug
