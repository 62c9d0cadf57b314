#pragma once

// Faults between the daemon and one kind, on either tier: the sandbox injects a fault, a real
// server is configured so.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

// Sends faults to the sandbox's /sandbox/faults (cmd/sandbox-apiserver/faults.h), and clears them.
// The end of a scenario clears those that are left.
void Inject(Scenario& s, const std::string& faults);
void ClearFaults(Scenario& s);

// A user who may do nothing but what is granted. Real servers only: the sandbox knows no rights.
class Stranger {
 public:
  explicit Stranger(ApiServer& server);
  ~Stranger();
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }
  // `rules` of a ClusterRole, JSON. The name is for Revoke().
  void Grant(const std::string& name, const std::string& rules);
  void Revoke(const std::string& name);

 private:
  Api api_;
  std::string role_ = FreshName("e2e-stranger");
  TempDir dir_;
  std::string kubeconfig_;
  std::set<std::string> granted_;
};

// A user with all the rights of the daemon, except to list and watch one core resource.
class Restricted {
 public:
  Restricted(Scenario& s, std::string resource);

  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }
  // Adds that right.
  void Allow();

 private:
  Scenario& s_;
  std::string resource_;
  std::optional<Stranger> stranger_;  // real servers
  std::string kubeconfig_;
};

// A daemon that may not write some kind for a time. The sandbox answers such writes with 403; on a
// real server the daemon is a user without the right.
class WriteBan {
 public:
  // `resource` is "validatingwebhookconfigurations", "clusterquotas/status" or
  // "resourcequotas/status". Until Forbid() the daemon may write it.
  WriteBan(ApiServer& server, const std::string& resource);

  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }  // the daemon's
  void Forbid(Scenario& s);
  void Allow(Scenario& s);

 private:
  std::string resource_;
  std::optional<Stranger> stranger_;
  std::string kubeconfig_;
};

}  // namespace e2e
