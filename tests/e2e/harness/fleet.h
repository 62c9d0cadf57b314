#pragma once

// Several replicas of the daemon behind one Service, as a Deployment runs them: they share a lease,
// a certificate in a Secret and a webhook configuration, and the API server reaches whichever the
// Service leads to. That is decided as in a cluster: a thread probes each replica's readiness as a
// kubelet does, and the balancer leads to those that are ready, or to all that have an address
// where the shipped Service publishes those, too. For a real kube-apiserver; the Service is an
// ExternalName of this machine.
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
  // The Service and all that replicas share live in the namespace default, which is not guarded.
  explicit Fleet(Scenario& scenario);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // After those of every replica; for those that start later.
  void AddFlags(const std::vector<std::string>& flags);
  // One more; returns when it is ready, and asked.
  Daemon& Add();
  // One more pod, whose image is never there: it has an address, at which nobody listens.
  void AddWithoutImage();
  // As a rolling update with a surge of one: another one comes, and when it is ready the oldest is
  // told to go; every node hears of that somewhat later. Its exit code; nullopt if it takes longer
  // than `grace`.
  std::optional<int> ReplaceOldest(std::chrono::milliseconds grace);
  // kill -9, of the one that leads; the balancer learns of it when it is dead.
  void KillLeader();

  [[nodiscard]] std::size_t size() const { return replicas_.size(); }
  // The sum over all that run.
  [[nodiscard]] double Metric(const std::string& name) const;

 private:
  struct Replica {
    std::unique_ptr<Daemon> daemon;  // null: its image is not there
    std::uint16_t port;              // of its webhook
  };
  // A replica as kubelet and Service see it.
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
