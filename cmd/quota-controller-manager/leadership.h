#pragma once

// Leader election of the daemon: the lease that flags and connection name, its metric and its
// health check. With --leader-elect=false this process always leads.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <functional>
#include <memory>
#include <string>

#include "cmd/quota-controller-manager/flags.h"
#include "pkg/client/cluster_config.h"
#include "pkg/debug/health.h"
#include "pkg/leader/leader_runner.h"
#include "pkg/metrics/registry.h"

namespace manager {

// The lease that the replicas of one installation share, whether or not they elect a leader. Its
// name also tells installations apart.
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

  // True if this process leads at this moment.
  [[nodiscard]] bool Leads() const { return !runner_ || runner_->Leads(); }
  // The last known holder of the lease, and our own identity; "" without leader election.
  [[nodiscard]] std::string Holder() const { return runner_ ? runner_->Holder() : ""; }
  [[nodiscard]] std::string Identity() const {
    return runner_ ? runner_->options().elector.identity : "";
  }
  // Runs until the lease is lost, or until cancelled; then the lease is released.
  base::Task<void> Run();

 private:
  LeadershipCallbacks callbacks_;
  std::unique_ptr<leader::LeaderRunner> runner_;  // null: no leader election
};

}  // namespace manager
