#pragma once

// The small HTTP endpoints of a daemon: health (pkg/debug/health.h) and /metrics. Other paths are
// 404, other methods than GET and HEAD 405.
//
// Health is open to all, and says no more than that a check fails. /metrics names namespaces and
// quotas: with a guard it is for those only whom the guard lets in; others get 401, 403, 429, or
// 503 where the guard cannot tell.
//
// Single-threaded; what is served outlives the handler.

#include <functional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/debug/health.h"
#include "pkg/http/server.h"
#include "pkg/metrics/registry.h"

namespace debug {

// Whether the bearer of `token` ("": none was shown) may get `path`. Errors: kUnauthorized,
// kForbidden, kTooManyRequests; any other says that it could not be decided.
using Guard = std::function<base::Task<base::Result<void>>(std::string token, std::string path)>;

struct Endpoints {
  Health* health = nullptr;              // null: no health endpoints
  metrics::Registry* metrics = nullptr;  // null: no /metrics
  Guard guard{};                         // of /metrics; null: everybody may read them
};

// For http::NewServer().
http::Handler NewHandler(Endpoints endpoints);

// What the handler sends to those who are let in.
base::Task<http::Response> Answer(Endpoints endpoints, http::Request request);

}  // namespace debug
