// Every flag of the daemon but those of admission (admission_flags.cc), and nothing else.

#include "cmd/quota-controller-manager/flags.h"

#include <gflags/gflags.h>

#include <utility>

#include "cmd/command_line/command_line.h"
#include "cmd/quota-controller-manager/admission_flags.h"
#include "cmd/quota-controller-manager/flag_values.h"
#include "pkg/api/names.h"
#include "pkg/base/duration.h"
#include "pkg/client/api_client.h"
#include "pkg/leader/elector.h"
#include "pkg/protobuf/envelope.h"

DEFINE_string(kubeconfig, "",
              "Kubeconfig file. Empty: the in-cluster configuration, else $KUBECONFIG, else "
              "~/.kube/config.");
DEFINE_string(context, "", "Context of the kubeconfig. Empty: its current-context.");
DEFINE_string(kube_api_content_type, "application/vnd.kubernetes.protobuf",
              "Format in which built-in kinds are requested: this or application/json. Servers and "
              "kinds without protobuf are always read as JSON.");
DEFINE_string(
    quota_apis, "core,cluster,karmada,ironcore",
    "Quota APIs to count, separated by commas. Each is counted while the server serves it.");
DEFINE_bool(
    applied_cluster_quotas, true,
    "Write an AppliedClusterQuota into each namespace for each ClusterQuota above it, so that "
    "people who may read only their namespace see it. False: remove all that were written.");
DEFINE_string(resync_period, "5m",
              "How often all usage is compared with a fresh list and corrected; 0 turns it off.");
DEFINE_string(metrics_bind_address, ":8080", "Address to serve /metrics at. Empty: not served.");
DEFINE_bool(metrics_secure, true,
            "Serve /metrics over TLS, to users who may get the URL /metrics on the API server. "
            "Default: true unless --metrics-bind-address is on loopback.");
DEFINE_int32(max_quota_series, 10000,
             "Maximum number of series of quotas: quota_used, quota_hard and others; 0: none.");
DEFINE_string(health_probe_bind_address, ":8081",
              "Address to serve /healthz, /livez and /readyz at. Empty: not served.");

DEFINE_string(logging_format, "text",
              "Format of the log: text, or json for one JSON object a line.");

DEFINE_bool(uninstall, false,
            "Remove what daemons of this installation left on the API server (the webhook "
            "configuration, AppliedClusterQuotas, DefinedQuotas, the certificate's Secret, the "
            "lease), and exit. Use the daemon's own --admission-service and "
            "--leader-elect-resource-namespace, and "
            "stop the daemon first.");
DEFINE_bool(break_glass, false,
            "Stop enforcing: remove all webhooks from this installation's webhook "
            "configuration, even while daemons run, and exit. Until its annotation "
            "quota-controller-manager.io/break-glass is removed, nothing is refused. Use "
            "the daemon's own --leader-elect-resource-namespace.");
DEFINE_string(break_glass_for, "0",
              "With --break-glass: how long a daemon that still runs leaves the webhook "
              "configuration so. It removes the annotation then. 0: for good.");
DEFINE_bool(
    leader_elect, true,
    "Elect one of several replicas, which holds a Lease and writes the counts. All replicas count "
    "and admit. False: this process writes without a lease.");
DEFINE_string(leader_elect_lease_duration, "15s",
              "How long other replicas wait for a leader that does not renew its lease.");
DEFINE_string(leader_elect_renew_deadline, "10s",
              "How long after its last renewal a leader stops and its process ends.");
DEFINE_string(leader_elect_retry_period, "2s",
              "How often the lease is renewed. Other replicas read it after 1 to 2.2 periods.");
DEFINE_string(leader_elect_resource_name, "quota-controller-manager", "Name of the Lease.");
DEFINE_string(leader_elect_resource_namespace, "",
              "Namespace of the Lease. Empty: the pod's own; kube-system outside of a cluster.");
DEFINE_string(leader_elect_identity, "",
              "Unique name of this process in the Lease. Empty: the host's name and a "
              "random part.");

namespace manager {
namespace {

using command_line::BadFlag;

constexpr std::string_view kUsage =
    "quota-controller-manager keeps status.hard and status.used of every quota correct.\n\n"
    "Usage: quota-controller-manager [flags]\n\n";
// Unless --metrics-secure is given, only loopback is served without TLS.
bool IsMetricsSecure(const std::optional<http::BindAddress>& address) {
  if (!gflags::GetCommandLineFlagInfoOrDie("metrics_secure").is_default) {
    return FLAGS_metrics_secure;
  }
  return address && !IsOnLoopback(*address);
}

// A duration above zero.
base::Result<base::Duration> ParsePeriod(std::string_view flag, const std::string& text) {
  const auto period = base::ParseDuration(text);
  if (!period) return BadFlag(flag, period.error().message);
  if (period->count() <= 0) return BadFlag(flag, "must be longer than 0: " + text);
  return *period;
}

base::Result<void> ParseLeaseTimes(LeaderElection& election) {
  const auto lease = ParsePeriod("leader_elect_lease_duration", FLAGS_leader_elect_lease_duration);
  if (!lease) return lease.error();
  const auto renew = ParsePeriod("leader_elect_renew_deadline", FLAGS_leader_elect_renew_deadline);
  if (!renew) return renew.error();
  const auto retry = ParsePeriod("leader_elect_retry_period", FLAGS_leader_elect_retry_period);
  if (!retry) return retry.error();
  // A Lease has whole seconds, in 32 bits.
  if (*lease < std::chrono::seconds(1) || *lease > std::chrono::hours(24)) {
    return BadFlag("leader_elect_lease_duration",
                   "must be from 1s to 24h: " + FLAGS_leader_elect_lease_duration);
  }
  if (*lease <= *renew) {
    return BadFlag("leader_elect_lease_duration",
                   "must be longer than --leader-elect-renew-deadline, " +
                       base::FormatDuration(*renew) + ": " + FLAGS_leader_elect_lease_duration);
  }
  if (*renew <= *retry * leader::kJitter) {
    return BadFlag("leader_elect_renew_deadline",
                   "must be longer than 1.2 times --leader-elect-retry-period, " +
                       base::FormatDuration(*retry) + ": " + FLAGS_leader_elect_renew_deadline);
  }
  election.lease_duration = *lease;
  election.renew_deadline = *renew;
  election.retry_period = *retry;
  return {};
}

base::Result<bool> WantsProtobuf() {
  if (FLAGS_kube_api_content_type == protobuf::kMediaType) return true;
  if (FLAGS_kube_api_content_type == client::kJson) return false;
  return BadFlag("kube_api_content_type", "must be " + std::string(protobuf::kMediaType) + " or " +
                                              std::string(client::kJson) + ": \"" +
                                              FLAGS_kube_api_content_type + "\"");
}

base::Result<void> ParseLeaderElection(LeaderElection& election) {
  election.elect = FLAGS_leader_elect;
  const auto times = ParseLeaseTimes(election);
  if (!times) return times.error();
  const std::string& name = FLAGS_leader_elect_resource_name;
  const std::string& ns = FLAGS_leader_elect_resource_namespace;
  if (!api::IsDns1123Subdomain(name)) {
    return BadFlag("leader_elect_resource_name", "is not a valid Lease name: \"" + name + "\"");
  }
  if (!ns.empty() && !api::IsDns1123Label(ns)) {
    return BadFlag("leader_elect_resource_namespace",
                   "is not a valid namespace name: \"" + ns + "\"");
  }
  election.resource_name = name;
  election.resource_namespace = ns;
  election.identity = FLAGS_leader_elect_identity;
  return {};
}

}  // namespace

std::string Version() { return QCM_VERSION; }

logging::Format LoggingFormat() {
  return FLAGS_logging_format == "json" ? logging::Format::kJson : logging::Format::kText;
}

client::LoadOptions LoadOptionsFrom(const Options& options) {
  return {.kubeconfig = options.kubeconfig,
          .context = options.context,
          .environment = client::ProcessEnvironment,
          .home = client::ProcessEnvironment("HOME").value_or("")};
}

bool IsOnLoopback(const http::BindAddress& address) {
  return address.address == "localhost" || address.address == "::1" ||
         address.address.starts_with("127.");
}

base::Result<Options> ParseFlags(int argc, char** argv) {
  const auto parsed = command_line::Parse({.name = "quota-controller-manager",
                                           .version = Version(),
                                           .usage = kUsage,
                                           .flags_folder = "cmd/quota-controller-manager/",
                                           .borrowed = {"v", "vmodule"}},
                                          argc, argv);
  if (!parsed) return parsed.error();
  Options options{.uninstall = FLAGS_uninstall,
                  .break_glass = FLAGS_break_glass,
                  .kubeconfig = FLAGS_kubeconfig,
                  .context = FLAGS_context};
  if (options.uninstall && options.break_glass) {
    return BadFlag("break_glass", "cannot be combined with --uninstall");
  }
  const auto glass = base::ParseDuration(FLAGS_break_glass_for);
  if (!glass) return BadFlag("break_glass_for", glass.error().message);
  if (glass->count() < 0) {
    return BadFlag("break_glass_for", "must not be negative: " + FLAGS_break_glass_for);
  }
  options.break_glass_for = *glass;
  if (FLAGS_logging_format != "text" && FLAGS_logging_format != "json") {
    return BadFlag("logging_format", "must be text or json: \"" + FLAGS_logging_format + "\"");
  }
  const auto protobuf = WantsProtobuf();
  if (!protobuf) return protobuf.error();
  options.protobuf = *protobuf;
  auto apis = ParseQuotaApis(FLAGS_quota_apis);
  if (apis && apis->empty()) return BadFlag("quota_apis", "at least one quota API is needed");
  if (!apis) return BadFlag("quota_apis", apis.error().message);
  options.quota_apis = std::move(*apis);
  const auto resync = base::ParseDuration(FLAGS_resync_period);
  if (!resync) return BadFlag("resync_period", resync.error().message);
  if (resync->count() < 0) {
    return BadFlag("resync_period", "must not be negative: " + FLAGS_resync_period);
  }
  options.resync_period = *resync;
  options.applied_cluster_quotas = FLAGS_applied_cluster_quotas;
  auto metrics = ParseAddress(FLAGS_metrics_bind_address);
  if (!metrics) return BadFlag("metrics_bind_address", metrics.error().message);
  options.metrics = std::move(*metrics);
  options.metrics_secure = IsMetricsSecure(options.metrics);
  if (FLAGS_max_quota_series < 0) {
    return BadFlag("max_quota_series",
                   "must not be negative: " + std::to_string(FLAGS_max_quota_series));
  }
  options.max_quota_series = static_cast<std::size_t>(FLAGS_max_quota_series);
  auto health = ParseAddress(FLAGS_health_probe_bind_address);
  if (!health) return BadFlag("health_probe_bind_address", health.error().message);
  options.health = std::move(*health);
  const auto admission = ParseAdmission(options);
  if (!admission) return admission.error();
  const auto election = ParseLeaderElection(options.leader_election);
  if (!election) return election.error();
  return options;
}

}  // namespace manager
