#pragma once

// The common part of most scenarios: a server, a namespace, a daemon, and waits for the status of
// quotas. At the end the daemon is stopped, and on a shared server the quotas, pods and services of
// all namespaces are deleted.

#include <functional>
#include <memory>
#include <string>

#include "pkg/json/value.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {

class Scenario {
 public:
  explicit Scenario(const ServerOptions& options = {}) : Scenario(SharedServer(options)) {}
  explicit Scenario(ApiServer& server);
  ~Scenario();
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  [[nodiscard]] Api& api() { return api_; }
  [[nodiscard]] ApiServer& server() { return server_; }
  [[nodiscard]] const std::string& ns() const { return ns_; }
  // REQUIRES: HasDaemon().
  [[nodiscard]] Daemon& daemon() { return *daemon_; }
  [[nodiscard]] bool HasDaemon() const { return daemon_ != nullptr; }

  // Starts the daemon with `kubeconfig`, or directly against the server if that is empty; returns
  // when it is ready.
  Daemon& StartDaemon(const std::string& resync_period = "5m", const std::string& kubeconfig = "");
  Daemon& StartDaemon(DaemonOptions options, bool wait_until_ready = true);
  void StopDaemon() { daemon_.reset(); }  // as at the end

  // A path in the scenario's namespace.
  [[nodiscard]] std::string Path(std::string_view resource, std::string_view name = {},
                                 std::string_view subresource = {}) const {
    return PathOf(resource, ns_, name, subresource);
  }
  json::Value Create(std::string_view resource, const json::Value& object) {
    return api_.Create(Path(resource), object);
  }
  void Delete(std::string_view resource, std::string_view name) {
    api_.Delete(Path(resource, name));
  }

  [[nodiscard]] json::Value GetQuota(const std::string& name);
  // The text of the quota's list of reservations; "" if it has none.
  [[nodiscard]] std::string ReservationsOf(const std::string& quota);
  [[nodiscard]] Quantities Used(const std::string& quota);
  // Waits until status.used is exactly this, and status.hard equals spec.hard.
  void WaitUsed(const std::string& quota, const Quantities& used,
                std::chrono::milliseconds timeout = Patience());
  [[nodiscard]] std::string ResourceVersion(const std::string& quota);

 private:
  ApiServer& server_;
  Api api_;
  std::string ns_;
  std::unique_ptr<Daemon> daemon_;
};

// An unused name: "<prefix>-<six letters>".
std::string FreshName(const std::string& prefix);

}  // namespace e2e
