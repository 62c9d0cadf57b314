#pragma once

// The servers of a soak: the sandbox, and two replicas of the daemon. They reach it through a relay
// that can be cut, and it reaches them through a load balancer. The first replica must survive the
// whole soak; the second is killed now and then.
//
// One thread.

#include <memory>
#include <string>

#include "tests/bench/soak_world.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/load_balancer.h"
#include "tests/e2e/harness/proxy.h"

namespace bench {

// Measurements of one process at one moment.
struct Vitals {
  double resident_mb = 0;
  double descriptors = 0;
  double threads = 0;
  double charges = 0;
  double drift = 0;  // objects that resyncs found missing, deleted or different
  double writes = 0;
  double advances = 0;  // those of them that charged in advance
  double decisions = 0;
  double cpu_seconds = 0;
};

class SoakCluster {
 public:
  explicit SoakCluster(const SoakWorld& world);

  [[nodiscard]] e2e::Api& api() { return api_; }
  [[nodiscard]] std::string Kubeconfig() { return server_->Kubeconfig(); }
  [[nodiscard]] e2e::TcpProxy& proxy() { return *proxy_; }
  [[nodiscard]] e2e::Daemon& first() { return *first_; }
  [[nodiscard]] e2e::Daemon& second() { return *second_; }

  void KillSecond();  // still receives requests until it is back
  void StartSecond();
  // kill -9. Before a daemon can reach the new server, it gets what an operator would restore: the
  // quotas without their usage, the webhook configuration, the lease. No objects.
  void RestartServer();
  // Sandbox only: cmd/sandbox-apiserver/faults.h. Fails quietly.
  void Inject(const std::string& faults);
  void ClearFaults();

 private:
  [[nodiscard]] e2e::DaemonOptions OptionsOf(const std::string& identity, std::uint16_t port);
  // The stored object in a form that can be created again; null if there is none.
  json::Value Saved(const std::string& path);

  const SoakWorld& world_;
  e2e::TempDir folder_;
  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  std::unique_ptr<e2e::TcpProxy> proxy_;
  e2e::LoadBalancer balancer_;
  std::uint16_t ports_[2];
  std::unique_ptr<e2e::Daemon> first_;
  std::unique_ptr<e2e::Daemon> second_;
};

// Zeros if it does not run or does not answer.
Vitals VitalsOf(const e2e::Daemon& daemon);

}  // namespace bench
