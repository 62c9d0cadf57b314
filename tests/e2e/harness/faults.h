#pragma once

// Faults between the daemon and one kind, on either tier: the sandbox injects a fault, a real
// server is configured so.

#include <string>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

// Sends faults to the sandbox's /sandbox/faults (cmd/sandbox-apiserver/faults.h), and clears them.
// The end of a scenario clears those that are left.
void Inject(Scenario& s, const std::string& faults);
void ClearFaults(Scenario& s);

// A user with all the rights of the daemon, except to list and watch one core resource.
class Restricted {
 public:
  Restricted(Scenario& s, std::string resource);
  ~Restricted();
  Restricted(const Restricted&) = delete;
  Restricted& operator=(const Restricted&) = delete;

  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }
  // Adds that right.
  void Allow();

 private:
  void Grant(const std::string& suffix, const std::string& rules);

  Scenario& s_;
  std::string resource_;
  std::string role_ = FreshName("e2e-restricted");
  TempDir dir_;
  std::string kubeconfig_;
};

}  // namespace e2e
