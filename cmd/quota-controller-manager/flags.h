#pragma once

// The command line as a value. Flags exist in flags.cc and nowhere else.

#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/endpoint.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/http/server.h"

namespace manager {

// --leader-elect…: which of several replicas keeps the statuses right.
struct LeaderElection {
  bool elect = true;
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::string resource_name = "quota-controller-manager";
  std::string resource_namespace;  // "": the pod's own, or kube-system outside of a cluster
  std::string identity;            // "": the host's name and something random
};

struct Options {
  bool uninstall = false;               // take away what daemons left, and end
  bool break_glass = false;             // let everything pass, and end
  std::string kubeconfig;               // "" : in-cluster, else $KUBECONFIG, else ~/.kube/config
  std::string context;                  // "" : the kubeconfig's current-context
  bool protobuf = true;                 // asked for where it can be read
  std::vector<std::string> quota_apis;  // counted, each while the server serves it
  std::vector<std::string> enforced;    // of quota_apis, those decided at admission here
  // Those that would be by default, if the API server could reach us.
  std::vector<std::string> unreachable;
  base::Duration resync_period = std::chrono::minutes(5);
  std::optional<http::BindAddress> metrics;  // nullopt: not served
  bool metrics_secure = false;               // over TLS, to those whom the API server lets in
  std::size_t max_quota_series = 10'000;     // of quota_used, quota_hard and their kin
  std::optional<http::BindAddress> health;
  std::optional<http::BindAddress> admission;  // set if `enforced` is not empty
  std::optional<admission::ServiceReference> admission_service;
  std::optional<admission::AdmissionUrl> admission_url;
  std::string admission_cert_dir;   // "": certificates are made
  std::string admission_client_ca;  // "": callers show no certificate
  std::string admission_failure_policy = "Fail";
  std::chrono::seconds admission_timeout{10};  // how long the API server waits for an answer
  // In which nothing is refused, beside the daemon's own.
  std::vector<std::string> exempt_namespaces;
  std::size_t admission_queue_limit = 4096;  // of each enforced quota API
  bool manage_webhook = true;
  bool warn_near_limits = true;
  bool charge_in_advance = true;
  LeaderElection leader_election;
};

// Parses the process's arguments. --help and --version print and exit with 0; an unknown flag or
// one without its value ends the process with one line and 2. Errors: kInvalidArgument, naming the
// flag.
base::Result<Options> ParseFlags(int argc, char** argv);

// How the cluster is found that the options name.
client::LoadOptions LoadOptionsFrom(const Options& options);

// Reached from this machine alone.
bool IsOnLoopback(const http::BindAddress& address);

// "0.1.0", as built.
std::string Version();

}  // namespace manager
