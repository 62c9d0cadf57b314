#pragma once

// For a daemon that enforces nothing: takes the webhooks out of the configuration that an earlier
// one of its installation left, because nobody answers them any more.
//
// While replicas are replaced, some may enforce and others not. Then the leader decides: where it
// counts only, it empties the object and writes its name on it, and replicas that would enforce
// leave it so while that one leads (webhook_keeper.h). So whichever way the change goes, it ends as
// the last leader is. The object itself stays, as the installation brought it.
//
// Without a lease nobody can know who leads. Then what somebody fills again is left alone, and
// said.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace admission {

struct WebhookRemoverOptions {
  std::string name;             // of the configuration
  std::string installation;     // only what is this one's is touched
  std::string identity;         // in the lease; "": there is none
  std::function<bool()> leads;  // at this moment
  base::Duration period = std::chrono::seconds(5);
  base::Duration period_of_refused = std::chrono::minutes(5);  // where we may not look
  std::chrono::milliseconds timeout{10'000};
};

// The patch that empties it, guarded by its version; nullopt if it is not ours, or asks nobody.
std::optional<json::Value> EmptyingPatch(const json::Value& live, const std::string& installation,
                                         const std::string& identity);

class WebhookRemover {
 public:
  WebhookRemover(base::Scheduler& scheduler, client::ApiClient& client,
                 WebhookRemoverOptions options);

  // Looks now and then, until cancelled.
  base::Task<void> Run();

 private:
  // When to look again.
  base::Task<base::Duration> Look();
  base::Task<base::Duration> Empty(json::Value patch);
  base::Duration AfterError(const base::Error& error);

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  WebhookRemoverOptions options_;
  bool emptied_ = false;
  bool said_kept_ = false;
  std::string trouble_;  // said last
};

}  // namespace admission
