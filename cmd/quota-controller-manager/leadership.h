#pragma once

// Leader election as the daemon runs it: the lease that the flags and the connection name, its
// metric and its health check. With --leader-elect=false it always leads.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <string>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/client/cluster_config.h"
#include "pkg/debug/health.h"
#include "pkg/leader/leader_runner.h"
#include "pkg/metrics/registry.h"

namespace manager {

// The lease that the replicas of one installation share, whether or not they elect; by it one
// installation is told from another.
api::ObjectKey LeaseOf(const client::ClusterConfig& config, const LeaderElection& election);

struct LeadershipCallbacks {
  std::function<void()> on_started_leading;
  std::function<void()> on_lost;
};

class Leadership {
 public:
  Leadership(base::Scheduler& scheduler, client::ApiClient& client, client::EventRecorder& events,
             const client::ClusterConfig& config, const LeaderElection& election,
             const std::string& host, LeadershipCallbacks callbacks);

  void Export(metrics::Registry& registry);
  void AddChecks(debug::Health& health);

  // At this moment.
  [[nodiscard]] bool Leads() const { return !runner_ || runner_->Leads(); }
  // Who holds the lease as far as is known, and who we are there; "" where nobody is elected.
  [[nodiscard]] std::string Holder() const { return runner_ ? runner_->Holder() : ""; }
  [[nodiscard]] std::string Identity() const {
    return runner_ ? runner_->options().elector.identity : "";
  }
  // Until the lease is lost, or until cancelled; then it is given back.
  base::Task<void> Run();

 private:
  LeadershipCallbacks callbacks_;
  std::unique_ptr<leader::LeaderRunner> runner_;  // null: nobody is elected
};

}  // namespace manager
