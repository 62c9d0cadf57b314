#pragma once

// Several replicas of the daemon behind one Service, as a Deployment runs them: they share a lease,
// a certificate in a Secret and a webhook configuration, and the API server reaches whichever the
// load balancer has. For a real kube-apiserver; the Service is an ExternalName of this machine.
//
// One thread.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
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
  // One more, which is asked once it is ready.
  Daemon& Add();
  // As a rolling update with a surge of one: another one comes, and when it is ready the oldest is
  // told to go; when that says that it is not ready any more, nobody new is sent to it. Its exit
  // code; nullopt if it takes longer than `grace`.
  std::optional<int> ReplaceOldest(std::chrono::milliseconds grace);
  // kill -9, of the one that leads; the balancer learns of it when it is dead.
  void KillLeader();

  [[nodiscard]] std::size_t size() const { return replicas_.size(); }
  // The sum over all that run.
  [[nodiscard]] double Metric(const std::string& name) const;

 private:
  struct Replica {
    std::unique_ptr<Daemon> daemon;
    std::uint16_t port;  // of its webhook
  };
  void Balance();

  Scenario& scenario_;
  LoadBalancer balancer_;
  std::string name_;  // of the Service, the lease and the webhook configuration
  std::vector<std::string> more_flags_;
  std::deque<Replica> replicas_;  // oldest first
  int started_ = 0;
};

}  // namespace e2e
