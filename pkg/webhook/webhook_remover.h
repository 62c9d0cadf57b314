#pragma once

// For a daemon that enforces nothing: removes the webhooks from the configuration that an enforcing
// daemon of the same installation left. Otherwise nobody would answer their reviews.
//
// During a rolling update some replicas enforce and others do not. The leader decides. A leader
// that only counts empties the object and writes its identity into it. Replicas that enforce leave
// the object empty while this identity leads (webhook_keeper.h). So in both directions the last
// leader decides. The object itself is not deleted.
//
// Without leader election this process cannot know that it leads. So it asks whether somebody holds
// the lease of this installation, and leaves the object alone while somebody does. It empties the
// object once: if it is filled again, by a daemon that enforces without election, it is left alone.
// The log says so once.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace webhook {

struct WebhookRemoverOptions {
  std::string name;             // of the configuration
  std::string installation;     // only its object is changed
  std::string identity;         // in the lease; "": there is no lease
  std::function<bool()> leads;  // true while this process leads, or if there is no election
  // With an identity null. True if somebody may hold the lease: it was renewed within its duration,
  // or that is not known yet. Errors: the lease cannot be read.
  std::function<base::Task<base::Result<bool>>()> somebody_leads;
  base::Duration period = std::chrono::seconds(5);
  base::Duration period_of_refused = std::chrono::minutes(5);  // if reading is forbidden
  std::chrono::milliseconds timeout{10'000};
};

// The patch that removes all webhooks, with the resourceVersion of `live`; nullopt if the object is
// not ours, or has none.
std::optional<json::Value> EmptyingPatch(const json::Value& live, const std::string& installation,
                                         const std::string& identity);

class WebhookRemover {
 public:
  WebhookRemover(base::Scheduler& scheduler, client::ApiClient& client,
                 WebhookRemoverOptions options);

  // Looks periodically, until cancelled.
  base::Task<void> Run();
  // True if the configuration is that of a daemon of this installation that enforced, and asks
  // nobody now. Nullopt: not known yet; it is known only while this process leads.
  [[nodiscard]] std::optional<bool> TurnedOff() const { return turned_off_; }

 private:
  // Returns the pause until the next look.
  base::Task<base::Duration> Look();
  // False if a daemon may enforce: it holds the lease, or filled the object again.
  base::Task<base::Result<bool>> MayEmpty();
  void SayKept(std::string_view why);
  base::Task<base::Duration> Empty(json::Value patch);
  base::Duration AfterError(const base::Error& error);

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  WebhookRemoverOptions options_;
  bool emptied_ = false;
  std::optional<bool> turned_off_;
  std::string kept_;     // why it is left alone; logged last
  std::string trouble_;  // logged last
};

}  // namespace webhook
