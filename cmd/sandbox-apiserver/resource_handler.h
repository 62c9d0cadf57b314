#pragma once

// Answers requests about objects with the store: get, list, create, update, patch, delete and
// deletecollection, in the representation that the client accepts. Writes pass the validating
// webhooks between the store's steps. Watches are WatchServer's.
//
// Single-threaded. Constructor arguments must outlive the handler, and an Exchange its Handle().

#include <functional>

#include "cmd/sandbox-apiserver/exchange.h"
#include "cmd/sandbox-apiserver/store.h"
#include "cmd/sandbox-apiserver/webhook_caller.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/http/message.h"

namespace sandbox {

class ResourceHandler {
 public:
  ResourceHandler(Store& store, WebhookCaller& webhooks, const base::Clock& clock)
      : store_(store), webhooks_(webhooks), clock_(clock) {}

  // REQUIRES: exchange.verb is not kWatch, and exchange.type serves it.
  base::Task<http::Response> Handle(const Exchange& exchange);

 private:
  using Prepare = std::function<Outcome<PendingWrite>()>;

  [[nodiscard]] http::Response Get(const Exchange& exchange) const;
  [[nodiscard]] http::Response List(const Exchange& exchange) const;
  base::Task<http::Response> Change(const Exchange& exchange);
  base::Task<http::Response> DeleteCollection(const Exchange& exchange);

  // The first step of the write of one object, with all that it needs of the request.
  [[nodiscard]] Outcome<Prepare> PreparationOf(const Exchange& exchange) const;
  // All steps of a write. If the client named no version and another write came in between, the
  // write is prepared again. `by_collection`: its webhooks get no name.
  base::Task<Outcome<WriteResult>> Write(const Exchange& exchange, Prepare prepare,
                                         bool by_collection);
  base::Task<Outcome<std::vector<std::string>>> Admit(const Exchange& exchange,
                                                      const PendingWrite& write,
                                                      bool by_collection);
  [[nodiscard]] http::Response Answer(const Exchange& exchange,
                                      const Outcome<WriteResult>& result) const;
  [[nodiscard]] http::Response Represent(const Exchange& exchange, int status,
                                         const ObjectPtr& object) const;
  [[nodiscard]] http::Response RepresentList(const Exchange& exchange, const ListPage& page) const;

  Store& store_;
  WebhookCaller& webhooks_;
  const base::Clock& clock_;
};

}  // namespace sandbox
