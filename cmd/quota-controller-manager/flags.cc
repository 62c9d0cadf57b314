// Every flag of the daemon, and nothing else.

#include "cmd/quota-controller-manager/flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <utility>

#include "cmd/command_line/command_line.h"
#include "pkg/api/names.h"
#include "pkg/base/duration.h"
#include "pkg/base/text.h"
#include "pkg/client/api_client.h"
#include "pkg/client/files.h"
#include "pkg/http/certificate.h"
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
DEFINE_string(
    enforce, "cluster,karmada",
    "Quota APIs that this daemon enforces at admission, separated by commas. Empty: none. "
    "Name core or ironcore only if that API server's own plugin is off "
    "(--disable-admission-plugins=ResourceQuota).");
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

DEFINE_string(admission_bind_address, ":9443",
              "Address to answer admission reviews at, over TLS. Empty: no admission.");
DEFINE_string(admission_service, "",
              "The Service by which the API server reaches the webhook: NAMESPACE/NAME:PORT.");
DEFINE_string(
    admission_url, "",
    "The URL by which the API server reaches the webhook in a local run: https://127.0.0.1:9443.");
DEFINE_string(admission_cert_dir, "",
              "Folder with tls.crt, tls.key and ca.crt, reread when they change. Empty: "
              "certificates are made and rotated.");
DEFINE_string(admission_client_ca, "",
              "CA file (PEM), reread when it changes: callers of the webhook must show a "
              "certificate signed by it. Empty: clients need no certificate.");
DEFINE_string(admission_failure_policy, "Fail",
              "What the API server does when the webhook cannot be reached: Fail or Ignore.");
DEFINE_string(admission_timeout, "10s",
              "How long the API server waits for an answer: whole seconds from 1s to 30s.");
DEFINE_string(
    exempt_namespaces, "kube-system,kube-public,kube-node-lease",
    "Namespaces in which nothing is refused, separated by commas, in addition to the daemon's "
    "own. What the cluster needs to start must not depend on this daemon.");
DEFINE_int32(
    admission_queue_limit, 4096,
    "How many requests may wait for a decision, for each quota API; each namespace may have a "
    "quarter of them, but at most 1024. Further ones are answered 429 at once, so that clients "
    "retry.");
DEFINE_bool(manage_webhook, true,
            "Manage the ValidatingWebhookConfiguration. False: the admin manages it.");
DEFINE_bool(warn_near_limits, true,
            "Warn the user when an admitted request leaves less than a tenth of a limit.");
DEFINE_bool(
    charge_in_advance, true,
    "Charge bursts of creations in advance while usage is far from any limit, so that few of "
    "them wait for a write. Unused charges are released within a second.");

DEFINE_string(logging_format, "text",
              "Format of the log: text, or json for one JSON object a line.");

DEFINE_bool(uninstall, false,
            "Remove what daemons of this installation left on the API server (the webhook "
            "configuration, AppliedClusterQuotas, the certificate's Secret, the lease), and exit. "
            "Use the daemon's own --admission-service and --leader-elect-resource-namespace, and "
            "stop the daemon first.");
DEFINE_bool(break_glass, false,
            "Stop enforcing: remove all webhooks from this installation's webhook "
            "configuration, even while daemons run, and exit. Until its annotation "
            "quota-controller-manager.io/break-glass is removed, nothing is refused. Use "
            "the daemon's own --leader-elect-resource-namespace.");
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
constexpr std::array<std::string_view, 4> kQuotaApis{"core", "cluster", "karmada", "ironcore"};

// Names in the order given, each once.
base::Result<std::vector<std::string>> ParseQuotaApis(const std::string& text,
                                                      std::span<const std::string_view> known) {
  std::vector<std::string> apis;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    if (!base::IsOneOf(name, known)) {
      std::string all;
      for (const std::string_view one : known) all.append(all.empty() ? "" : ", ").append(one);
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = std::string("unknown quota API \"")
                                        .append(name)
                                        .append("\" (known: ")
                                        .append(all)
                                        .append(")")};
    }
    if (!base::IsOneOf(name, apis)) apis.push_back(name);
  }
  return apis;
}

base::Result<std::optional<http::BindAddress>> ParseAddress(const std::string& text) {
  if (text.empty()) return std::optional<http::BindAddress>();
  auto address = http::ParseBindAddress(text);
  if (!address) return address.error();
  return std::optional<http::BindAddress>(std::move(*address));
}

// Unless --metrics-secure is given, only loopback is served without TLS.
bool IsMetricsSecure(const std::optional<http::BindAddress>& address) {
  if (!gflags::GetCommandLineFlagInfoOrDie("metrics_secure").is_default) {
    return FLAGS_metrics_secure;
  }
  return address && !IsOnLoopback(*address);
}

// Sets how the API server reaches us. Not needed if the admin manages the webhook configuration.
base::Result<void> ParseEndpoint(Options& options) {
  if (!FLAGS_admission_service.empty() && !FLAGS_admission_url.empty()) {
    return BadFlag("admission_url", "cannot be combined with --admission-service");
  }
  if (!FLAGS_admission_service.empty()) {
    auto service = webhook::ParseServiceReference(FLAGS_admission_service);
    if (!service) return BadFlag("admission_service", service.error().message);
    options.admission_service = std::move(*service);
  }
  if (!FLAGS_admission_url.empty()) {
    auto url = webhook::ParseAdmissionUrl(FLAGS_admission_url);
    if (!url) return BadFlag("admission_url", url.error().message);
    options.admission_url = std::move(*url);
  }
  const bool reachable = options.admission_service || options.admission_url;
  if (options.enforced.empty() || reachable) return {};
  // The API server cannot reach the webhook. The default then enforces nothing, so that the daemon
  // starts without admission flags. An explicit --enforce is an error.
  if (options.manage_webhook && gflags::GetCommandLineFlagInfoOrDie("enforce").is_default) {
    options.unreachable = std::exchange(options.enforced, {});
    options.admission.reset();
    return {};
  }
  if (options.manage_webhook) {
    return BadFlag("enforce",
                   "needs --admission-service or --admission-url, by which the API "
                   "server reaches the webhook (or --manage-webhook=false)");
  }
  if (options.admission_cert_dir.empty()) {
    return BadFlag("manage_webhook",
                   "is false, so --admission-cert-dir is needed, or "
                   "--admission-service or --admission-url to make a "
                   "certificate for");
  }
  return {};
}

// Checks that the file has certificates. It is read again where it is used, and their dates are
// checked there.
base::Result<std::string> ParseClientCa(const std::string& path) {
  if (path.empty()) return std::string();
  const auto pem = client::ReadFile(path);
  if (!pem) return BadFlag("admission_client_ca", pem.error().message);
  const auto read = http::ReadCertificates(*pem, path);
  if (!read) return BadFlag("admission_client_ca", read.error().message);
  return path;
}

base::Result<std::chrono::seconds> ParseAdmissionTimeout() {
  const auto timeout = base::ParseDuration(FLAGS_admission_timeout);
  if (!timeout) return BadFlag("admission_timeout", timeout.error().message);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*timeout);
  if (seconds != *timeout || seconds.count() < 1 || seconds.count() > 30) {
    return BadFlag("admission_timeout",
                   "must be whole seconds, from 1s to 30s: " + FLAGS_admission_timeout);
  }
  return seconds;
}

base::Result<std::vector<std::string>> ParseExemptNamespaces() {
  std::vector<std::string> namespaces;
  std::istringstream list(FLAGS_exempt_namespaces);
  for (std::string name; std::getline(list, name, ',');) {
    if (!api::IsDns1123Label(name)) {
      return BadFlag("exempt_namespaces", "\"" + name + "\" is not a valid namespace name");
    }
    namespaces.push_back(std::move(name));
  }
  return namespaces;
}

// A quota API that is not counted cannot be enforced, and none without an address. The default is
// then reduced. An explicit --enforce is an error: who sets it relies on it.
base::Result<std::vector<std::string>> ParseEnforced(const std::vector<std::string>& counted,
                                                     bool answers) {
  auto enforced = ParseQuotaApis(FLAGS_enforce, kQuotaApis);
  if (!enforced) return BadFlag("enforce", enforced.error().message);
  const auto not_counted = [&](const std::string& name) { return !base::IsOneOf(name, counted); };
  if (gflags::GetCommandLineFlagInfoOrDie("enforce").is_default) {
    if (!answers) enforced->clear();
    std::erase_if(*enforced, not_counted);
    return enforced;
  }
  if (!enforced->empty() && !answers) {
    return BadFlag("enforce",
                   "needs an address to answer at, but --admission-bind-address is empty");
  }
  const auto missing = std::ranges::find_if(*enforced, not_counted);
  if (missing == enforced->end()) return enforced;
  return BadFlag("enforce", "names \"" + *missing +
                                "\", which --quota-apis does not count: " + FLAGS_quota_apis);
}

base::Result<void> ParseAdmission(Options& options) {
  auto address = ParseAddress(FLAGS_admission_bind_address);
  if (!address) return BadFlag("admission_bind_address", address.error().message);
  const auto enforced = ParseEnforced(options.quota_apis, address->has_value());
  if (!enforced) return enforced.error();
  options.enforced = *enforced;
  if (!options.enforced.empty()) options.admission = std::move(*address);
  if (FLAGS_admission_failure_policy != "Fail" && FLAGS_admission_failure_policy != "Ignore") {
    return BadFlag("admission_failure_policy",
                   "must be Fail or Ignore: \"" + FLAGS_admission_failure_policy + "\"");
  }
  options.admission_failure_policy = FLAGS_admission_failure_policy;
  const auto timeout = ParseAdmissionTimeout();
  if (!timeout) return timeout.error();
  options.admission_timeout = *timeout;
  auto exempt = ParseExemptNamespaces();
  if (!exempt) return exempt.error();
  options.exempt_namespaces = std::move(*exempt);
  options.admission_cert_dir = FLAGS_admission_cert_dir;
  const auto client_ca = ParseClientCa(FLAGS_admission_client_ca);
  if (!client_ca) return client_ca.error();
  options.admission_client_ca = *client_ca;
  if (FLAGS_admission_queue_limit <= 0) {
    return BadFlag("admission_queue_limit",
                   "must be more than 0: " + std::to_string(FLAGS_admission_queue_limit));
  }
  options.admission_queue_limit = static_cast<std::size_t>(FLAGS_admission_queue_limit);
  options.manage_webhook = FLAGS_manage_webhook;
  options.warn_near_limits = FLAGS_warn_near_limits;
  options.charge_in_advance = FLAGS_charge_in_advance;
  return ParseEndpoint(options);
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
                                           .flags_file = "quota-controller-manager/flags.cc",
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
  if (FLAGS_logging_format != "text" && FLAGS_logging_format != "json") {
    return BadFlag("logging_format", "must be text or json: \"" + FLAGS_logging_format + "\"");
  }
  const auto protobuf = WantsProtobuf();
  if (!protobuf) return protobuf.error();
  options.protobuf = *protobuf;
  auto apis = ParseQuotaApis(FLAGS_quota_apis, kQuotaApis);
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
