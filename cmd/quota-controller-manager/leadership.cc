#include "cmd/quota-controller-manager/leadership.h"

#include <glog/logging.h>

#include "pkg/base/duration.h"
#include "pkg/webhook/ownership.h"

namespace manager {
namespace {

// A leader that exceeds its lease by more than this is stuck, and needs a restart (as in
// client-go).
constexpr std::chrono::seconds kTolerance{20};
// Exists on every API server; the components of a control plane keep their leases there.
constexpr std::string_view kOutsideNamespace = "kube-system";

std::string NamespaceOf(const client::ClusterConfig& config, const LeaderElection& election) {
  if (!election.resource_namespace.empty()) return election.resource_namespace;
  return config.in_cluster ? config.ns : std::string(kOutsideNamespace);
}

}  // namespace

api::ObjectKey LeaseOf(const client::ClusterConfig& config, const LeaderElection& election) {
  return {NamespaceOf(config, election), election.resource_name};
}

Leadership::Leadership(base::Scheduler& scheduler, client::ApiClient& client,
                       client::EventRecorder& events, const client::ClusterConfig& config,
                       const LeaderElection& election, const std::string& host,
                       LeadershipCallbacks callbacks)
    : callbacks_(std::move(callbacks)) {
  if (!election.elect) return;
  leader::LeaderOptions options;
  options.lease = LeaseOf(config, election);
  options.labels = {{std::string(webhook::kManagedByLabel), std::string(webhook::kManagedByUs)}};
  options.elector.identity =
      election.identity.empty() ? leader::NewIdentity(host) : election.identity;
  options.elector.lease_duration = election.lease_duration;
  options.elector.renew_deadline = election.renew_deadline;
  options.elector.retry_period = election.retry_period;
  options.now = leader::NowWithSuspend;
  options.on_started_leading = callbacks_.on_started_leading;
  options.on_lost = [this](const std::string&) { callbacks_.on_lost(); };
  runner_ = std::make_unique<leader::LeaderRunner>(scheduler, client, &events, std::move(options));
}

void Leadership::Export(metrics::Registry& registry) {
  if (!runner_) return;
  metrics::Gauge status = registry.NewGauge("leader_election_master_status",
                                            "1 on the replica that leads, 0 on those that follow.",
                                            {{"name", runner_->options().lease.name}});
  registry.OnScrape([this, status] { status.Set(runner_->Leads() ? 1 : 0); });
}

void Leadership::AddChecks(debug::Health& health) {
  if (!runner_) return;
  health.AddLiveness("leaderElection", [this]() -> std::optional<debug::Failure> {
    const base::Duration overdue = runner_->Overdue();
    if (overdue <= kTolerance) return std::nullopt;
    return debug::Failure{.reason = "the lease " + runner_->options().lease.ToString() + " ended " +
                                    base::FormatDuration(overdue) + " ago, and nothing noticed",
                          .detail = ""};
  });
}

base::Task<void> Leadership::Run() {
  if (runner_) co_await runner_->Run();
}

}  // namespace manager
