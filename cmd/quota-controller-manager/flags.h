#pragma once

// The command line as a value. Only flags.cc and admission_flags.cc define and read flags.

#include <optional>
#include <string>
#include <vector>

#include "pkg/api/selector.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/http/server.h"
#include "pkg/logging/log.h"
#include "pkg/webhook/endpoint.h"

namespace manager {

// --leader-elect…: which of several replicas writes statuses.
struct LeaderElection {
  bool elect = true;
  base::Duration lease_duration{};
  base::Duration renew_deadline{};
  base::Duration retry_period{};
  std::string resource_name = "quota-controller-manager";
  std::string resource_namespace;  // "": the pod's own, or kube-system outside of a cluster
  std::string identity;            // "": the host's name and a random part
};

struct Options {
  bool uninstall = false;               // remove what daemons left, and exit
  bool break_glass = false;             // stop enforcing, and exit
  base::Duration break_glass_for{};     // until daemons enforce again; zero: they do not
  std::string kubeconfig;               // "" : in-cluster, else $KUBECONFIG, else ~/.kube/config
  std::string context;                  // "" : the kubeconfig's current-context
  bool protobuf = true;                 // prefer it for kinds that can be decoded
  std::vector<std::string> quota_apis;  // to count, each while the server serves it
  std::vector<std::string> enforced;    // those of quota_apis that this daemon decides
  // The quota APIs that would be enforced by default if the API server could reach us.
  std::vector<std::string> unreachable;
  bool applied_cluster_quotas = true;  // show ClusterQuotas in namespaces
  base::Duration resync_period{};
  std::optional<http::BindAddress> metrics;  // nullopt: not served
  bool metrics_secure = false;               // over TLS, for users that the API server allows
  std::size_t max_quota_series = 0;          // of quota_used, quota_hard and related metrics
  std::optional<http::BindAddress> health;
  std::optional<http::BindAddress> admission;  // set if `enforced` is not empty
  std::optional<webhook::ServiceReference> admission_service;
  std::optional<webhook::AdmissionUrl> admission_url;
  std::string admission_cert_dir;   // "": certificates are made
  std::string admission_client_ca;  // "": clients need no certificate
  std::string admission_failure_policy;
  std::chrono::seconds admission_timeout{};  // how long the API server waits for an answer
  // In addition to the daemon's own namespace.
  std::vector<std::string> exempt_namespaces;
  // Namespaces with these labels are exempt, too: the selector as text, and its requirement.
  std::string exempt_selector;
  std::optional<api::LabelRequirement> exempt_labels;
  std::size_t admission_queue_limit = 0;  // of all quota APIs together
  bool manage_webhook = true;
  bool warn_near_limits = true;
  bool charge_in_advance = true;
  LeaderElection leader_election;
};

// Parses the process's arguments. --help and --version print and exit with 0. An unknown flag, or a
// flag without its value, exits with 2 after one line. Errors: kInvalidArgument, naming the flag.
base::Result<Options> ParseFlags(int argc, char** argv);

// Returns --logging-format. Call it after ParseFlags(), also if that returned an error.
logging::Format LoggingFormat();

// How to find the cluster that the options name.
client::LoadOptions LoadOptionsFrom(const Options& options);

// True if only this machine can connect to the address.
bool IsOnLoopback(const http::BindAddress& address);

// "0.1.0", as built.
std::string Version();

}  // namespace manager
