#pragma once

// The small HTTP endpoints of a daemon: health (pkg/debug/health.h) and /metrics. Other paths get
// 404, methods other than GET and HEAD get 405.
//
// Health is open to everybody and only says that a check fails, not why. /metrics names namespaces
// and quotas. With a guard, it is only for those whom the guard allows. Others get 401, 403, 429,
// or 503 if the guard cannot decide.
//
// Single-threaded. The health checks and the registry must outlive the handler.

#include <functional>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/debug/health.h"
#include "pkg/http/server.h"
#include "pkg/metrics/registry.h"

namespace debug {

// Decides whether the owner of `token` ("": no token was sent) may get `path`; `address` is the
// caller's, without a port. Errors: kUnauthorized, kForbidden, kTooManyRequests; any other error
// means that it could not be decided.
using Guard = std::function<base::Task<base::Result<void>>(std::string token, std::string path,
                                                           std::string address)>;

class Scrapes;  // those that wait for another one

struct Endpoints {
  Health* health = nullptr;              // null: no health endpoints
  metrics::Registry* metrics = nullptr;  // null: no /metrics
  Guard guard{};                         // of /metrics; null: everybody may read them
  std::shared_ptr<Scrapes> scrapes = NewScrapes();

  static std::shared_ptr<Scrapes> NewScrapes();
};

// For http::NewServer().
http::Handler NewHandler(Endpoints endpoints);

// The answer to a request that the guard allows.
base::Task<http::Response> Answer(Endpoints endpoints, http::Request request);

}  // namespace debug
