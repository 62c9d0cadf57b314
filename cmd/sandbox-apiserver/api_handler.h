#pragma once

// Everything between an HTTP request and its answer: credentials, discovery, health, objects,
// watches, reviews, faults. It does no network I/O of its own except calls of webhooks, so tests
// drive it in virtual time, with a writer of their own.
//
// Paths beside those of the Kubernetes API: /sandbox/faults (cmd/sandbox-apiserver/faults.h) and
// /sandbox/requests: GET {"requests":[…],"openWatches":n}, DELETE sets the counts to zero.
//
// Single-threaded. The executor's tasks must have ended before the handler is destroyed.

#include <chrono>
#include <memory>
#include <string>

#include "cmd/sandbox-apiserver/auth.h"
#include "cmd/sandbox-apiserver/fault_injector.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/request_counts.h"
#include "cmd/sandbox-apiserver/resource_handler.h"
#include "cmd/sandbox-apiserver/store.h"
#include "cmd/sandbox-apiserver/watch_server.h"
#include "cmd/sandbox-apiserver/webhook_caller.h"
#include "pkg/base/scheduler.h"
#include "pkg/http/server.h"

namespace sandbox {

struct ApiHandlerOptions {
  AuthOptions auth;
  StoreOptions store;
  WatchServerOptions watches;
  std::size_t max_body_bytes = std::size_t{3} << 20;
};

class ApiHandler {
 public:
  ApiHandler(base::asio::any_io_executor executor, base::Scheduler& scheduler,
             ApiHandlerOptions options);

  // An http::Handler. The writer outlives the task.
  base::Task<void> Handle(http::Request request, http::Peer peer, http::ResponseWriter& writer);
  // Does the store's background work: grace periods, and namespaces that terminate. Runs until
  // cancelled.
  base::Task<void> RunBackground();

  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] WatchServer& watches() { return watches_; }
  [[nodiscard]] WebhookCaller& webhooks() { return webhooks_; }

 private:
  // Headers of every answer.
  static void Decorate(const http::Request& request, http::Response& response);
  base::Task<void> Send(const http::Request& request, http::Response response,
                        http::ResponseWriter& writer);

  // Returns nullopt for any other path.
  std::optional<http::Response> AnswerPublic(const http::Target& target) const;
  std::optional<http::Response> AnswerAway(const http::Target& target) const;
  std::optional<http::Response> AnswerDiscovery(const http::Request& request,
                                                const http::Target& target) const;
  std::optional<http::Response> AnswerAdmin(const http::Request& request,
                                            const http::Target& target);

  base::Task<void> ServeResource(Exchange& exchange, http::ResponseWriter& writer);
  // Returns an error in the request itself, before anything is done; nullopt if it has none.
  std::optional<http::Response> Check(Exchange& exchange) const;
  base::Task<http::Response> Produce(const Exchange& exchange);
  http::Response AnswerReviewRequest(const Exchange& exchange) const;

  ApiHandlerOptions options_;
  Authenticator authenticator_;
  Registry registry_;
  Store store_;
  WebhookCaller webhooks_;
  ResourceHandler resources_;
  WatchServer watches_;
  FaultInjector faults_;
  RequestCounts counts_;
  std::unique_ptr<base::Alarm> work_;
};

}  // namespace sandbox
