#pragma once

// The rules by which the API servers count (pkg/quota/rules.h). While servers of two versions
// answer, as during an upgrade, the rules are those of the older one: kube-controller-manager is
// upgraded after all of them. Which server answers is not ours to choose, so an older one counts as
// present until it has not answered for ten minutes. Without any answer the rules are the oldest.
// Single-threaded.

#include <chrono>
#include <map>

#include "pkg/api/kubernetes_version.h"
#include "pkg/base/asio.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/rules.h"

namespace controllers {

class ServerRules {
 public:
  static constexpr std::chrono::minutes kMixed{10};
  static constexpr std::chrono::seconds kAsksAgain{10};

  // Both must outlive it.
  ServerRules(client::ApiClient& client, base::Scheduler& scheduler)
      : client_(client), scheduler_(scheduler) {}

  // Asks a server for its version, unless one has answered a moment ago. If none answers, the rules
  // stay, which is logged. Must not be called again before it returned.
  base::Task<void> Refresh();
  [[nodiscard]] const quota::Rules& rules() const { return rules_; }

 private:
  void Take(const api::KubernetesVersion& version);

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  std::map<api::KubernetesVersion, base::TimePoint> answered_;  // when each one did last
  base::TimePoint last_answer_{};
  quota::Rules rules_;
  base::Reminder trouble_;
};

}  // namespace controllers
