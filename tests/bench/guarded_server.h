#pragma once

// A real kube-apiserver with one way of enforcing quotas, and a namespace with one quota of seven
// names, or 100 namespaces with ClusterQuotas. Several may run at once; put load on one of them at
// a time.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/load.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/load_balancer.h"
#include "tests/e2e/harness/objects.h"

namespace bench {

enum class Guard {
  kNoQuota,        // the plugin is off, and there is no quota
  kBuiltin,        // the plugin is on, with kube-controller-manager's quota controller
  kAllowAll,       // the plugin is off; a webhook allows everything without reading it
  kDaemon,         // the plugin is off; this project's daemon decides
  kDaemonOfJson,   // the same, with JSON only
  kTwoDaemons,     // two of them; a pod's label "half" selects one: kHalves
  kOlder,          // as kDaemon, by the program of QCM_OLDER_DAEMON
  kBalanced,       // as kDaemon, behind a balancer of connections
  kReplicas,       // two daemons behind a balancer that gives each every other connection
  kOlderReplicas,  // the same, by the program of QCM_OLDER_DAEMON
  kBoth,           // as kDaemon, with a ClusterQuota of the same names over the namespace
  kClusterQuota,   // the plugin is on; one ClusterQuota over 100 namespaces, the daemon decides
  kDefined,        // as kClusterQuota; all its names but `pods` are those of a UsageDefinition
  kTree,           // as kClusterQuota, with 1 000 of them in a tree: each namespace is below five
};
std::string NameOf(Guard guard);
bool IsOneDaemon(Guard guard);
bool OfClusterQuotas(Guard guard);
// The number of daemons behind a balancer; 0: there is none.
int BalancedDaemons(Guard guard);

class GuardedServer {
 public:
  static constexpr const char* kNamespace = "bench";
  static constexpr const char* kQuota = "q";
  static constexpr int kNamespaces = 100;  // of ClusterQuotas
  static constexpr int kQuotas = 1000;     // of a tree
  static constexpr std::array<const char*, 2> kHalves{"one", "other"};

  // Returns when creations are guarded. `hard` replaces the quota's limits, which are otherwise out
  // of reach.
  explicit GuardedServer(Guard guard, const e2e::Quantities& hard = {});
  ~GuardedServer();

  [[nodiscard]] Guard guard() const { return guard_; }
  [[nodiscard]] e2e::Api& api() { return api_; }
  [[nodiscard]] std::string Kubeconfig() { return server_->Kubeconfig(); }
  [[nodiscard]] bool has_quota() const {
    return guard_ != Guard::kNoQuota && guard_ != Guard::kAllowAll;
  }
  // CPU time of all processes that answer reviews.
  [[nodiscard]] Micros WebhookCpu() const;
  // The only one of them; -1: there is none, or there are several.
  [[nodiscard]] int webhook_pid() const { return webhook_ ? webhook_->pid() : -1; }
  [[nodiscard]] int server_pid() const { return server_->pid(); }
  // "https://127.0.0.1:1234/validate/core"
  [[nodiscard]] std::string WebhookUrl() const;

  [[nodiscard]] std::string PodPath(const std::string& name = "",
                                    const std::string& subresource = "") const;
  // The namespaces take turns.
  [[nodiscard]] std::string PathOfPod(int index) const;
  [[nodiscard]] std::string CollectionOfPod(int index) const;
  // These describe the only quota, or the root of the tree.
  [[nodiscard]] std::string QuotaPath() const { return QuotaCollection() + "/" + kQuota; }
  [[nodiscard]] std::string QuotaCollection() const;
  [[nodiscard]] std::string QuotaVersion();
  // status.used.pods, as the server prints it.
  [[nodiscard]] std::string UsedPods();
  // Seconds until status.used.pods is `pods`; nullopt if it takes longer than `limit`.
  std::optional<double> SecondsUntilUsed(int pods, std::chrono::seconds limit);
  // Kills the component that counts: the daemon, or the built-in controller.
  void KillCounter();
  // Starts it again without leader election, because the killed process still holds the lease.
  void StartCounter();
  // Returns when no pod is left, and used says so.
  void DeleteAllPods();
  // The sum of one of the daemons' metrics over all label sets; 0 if there is none.
  [[nodiscard]] double Metric(const std::string& name) const;
  // Its reviews since its start.
  [[nodiscard]] double ReviewsDecided() const { return Metric("quota_admission_decisions_total"); }

 private:
  [[nodiscard]] std::string NamespaceOf(int index) const;
  void CreateQuotas(const e2e::Quantities& hard);
  void CreateTree(const json::Value& hard);
  void Define();
  void StartAllower();
  void StartController();
  void StartDaemon(const std::vector<std::string>& more_flags = {});
  void StartHalf(const std::string& half);
  void StartBalanced(int daemons);
  void WaitUntilEnforced();

  Guard guard_;
  e2e::TempDir folder_;
  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  std::unique_ptr<e2e::ClusterQuotas> cluster_quotas_;
  std::unique_ptr<e2e::UsageDefinitions> definitions_;
  std::uint16_t webhook_port_;
  std::uint16_t metrics_port_;
  std::unique_ptr<e2e::Process> webhook_;
  std::unique_ptr<e2e::Process> controller_;
  std::vector<std::unique_ptr<e2e::Process>> daemons_;  // the halves, or the replicas
  std::vector<std::uint16_t> replica_metrics_ports_;
  std::unique_ptr<e2e::LoadBalancer> balancer_;
};

}  // namespace bench
