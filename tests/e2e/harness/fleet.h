#pragma once

// Several replicas of the daemon behind one Service, as in a Deployment. They share a lease, a
// certificate in a Secret and a webhook configuration, and the API server reaches the replicas that
// the Service routes to. That works as in a cluster: a thread probes each replica's readiness like
// a kubelet, and the balancer routes to the ready ones, or to all that have an address if the
// shipped Service publishes those, too. For a real kube-apiserver; the Service is an ExternalName
// of this machine.
//
// One thread uses it.

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/harness/load_balancer.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

class Fleet {
 public:
  // The Service and what the replicas share are in the namespace default, where nothing is
  // enforced.
  explicit Fleet(Scenario& scenario);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Adds flags to those of every replica that starts later.
  void AddFlags(const std::vector<std::string>& flags);
  // Starts one more; returns when it is ready and receives requests.
  Daemon& Add();
  // Adds a pod whose image does not exist: it has an address at which nobody listens.
  void AddWithoutImage();
  // Does one step of a rolling update with a surge of one: starts another replica, and when it is
  // ready, stops the oldest; the nodes learn of that a little later. Returns its exit code; nullopt
  // if it takes longer than `grace`.
  std::optional<int> ReplaceOldest(std::chrono::milliseconds grace);
  // kill -9 of the leader; the balancer learns of it after its death.
  void KillLeader();

  [[nodiscard]] std::size_t size() const { return replicas_.size(); }
  // The sum over all running replicas.
  [[nodiscard]] double Metric(const std::string& name) const;

 private:
  struct Replica {
    std::unique_ptr<Daemon> daemon;  // null: its image does not exist
    std::uint16_t port;              // of its webhook
  };
  // A replica as the kubelet and the Service see it.
  struct Address {
    std::uint16_t port;
    std::uint16_t probe_port;  // 0: no container runs
    bool ready = false;
    int failed_probes = 0;  // in a row
  };
  void Publish(std::uint16_t port, std::uint16_t probe_port);
  void Withdraw(std::uint16_t port);
  [[nodiscard]] bool IsReady(std::uint16_t port) const;
  void ProbeAll();
  void Balance();  // with mutex_ held

  Scenario& scenario_;
  LoadBalancer balancer_;
  const bool publishes_unready_;
  std::string name_;  // of the Service, the lease and the webhook configuration
  std::vector<std::string> more_flags_;
  std::deque<Replica> replicas_;  // oldest first
  int started_ = 0;
  mutable std::mutex mutex_;
  std::vector<Address> addresses_;  // guarded by mutex_
  std::atomic<bool> stop_{false};
  std::thread kubelet_;  // last: it uses the others
};

}  // namespace e2e
