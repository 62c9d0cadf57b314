// Processes that die or are suspended while pods are created and deleted at a limit: nothing is
// overcommitted, and the count is right soon after they return.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/load_balancer.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/under_load.h"

namespace e2e::process_faults_test {
namespace {

const std::chrono::milliseconds kLease = Stretched(4s);

// Two replicas behind one address, with the admin's certificate and a lease of their own.
class TwoReplicas {
 public:
  explicit TwoReplicas(Scenario& s) : s_(s), lease_(FreshName("lease")) {
    CertificateAuthority authority(dir_.path(), "ca-of-webhook");
    const KeyPair pair = authority.Server("webhook");
    dir_.Write("ca.crt", ReadFile(authority.cert_path()));
    dir_.Write("tls.crt", ReadFile(pair.cert_path));
    dir_.Write("tls.key", ReadFile(pair.key_path));
    first_ = Start("first", ports_[0]);
    second_ = Start("second", ports_[1]);
    balancer_.SetTargets({ports_[0], ports_[1]});
  }
  ~TwoReplicas() {
    first_->Finish();
    second_->Finish();
    for (const std::string& path : {ConfigurationPath(), s_.Path("leases", lease_)}) {
      (void)s_.api().Do({.verb = "DELETE", .path = path, .timeout = Stretched(5s)});
    }
  }
  TwoReplicas(const TwoReplicas&) = delete;
  TwoReplicas& operator=(const TwoReplicas&) = delete;

  [[nodiscard]] Daemon& first() { return *first_; }
  [[nodiscard]] Daemon& second() { return *second_; }
  // Routes as a Service does when a readiness probe fails.
  void SendToSecondOnly() { balancer_.SetTargets({ports_[1]}); }

 private:
  std::unique_ptr<Daemon> Start(const std::string& identity, std::uint16_t port) {
    const auto text = [](std::chrono::milliseconds time) {
      return std::to_string(time.count()) + "ms";
    };
    auto daemon = std::make_unique<Daemon>(DaemonOptions{
        .kubeconfig = s_.server().Kubeconfig(),
        .more_flags = {
            "--enforce=core", "--admission-bind-address=127.0.0.1:" + std::to_string(port),
            "--admission-url=https://127.0.0.1:" + std::to_string(balancer_.port()),
            "--admission-cert-dir=" + dir_.path(), "--leader-elect=true",
            "--leader-elect-identity=" + identity, "--leader-elect-resource-name=" + lease_,
            "--leader-elect-resource-namespace=" + s_.ns(),
            "--leader-elect-lease-duration=" + text(kLease),
            "--leader-elect-renew-deadline=" + text(kLease * 3 / 4),
            "--leader-elect-retry-period=" + text(kLease / 8)}});
    daemon->WaitUntilReady();
    return daemon;
  }

  Scenario& s_;
  std::string lease_;
  TempDir dir_;
  LoadBalancer balancer_;
  std::uint16_t ports_[2] = {FreePort(), FreePort()};
  std::unique_ptr<Daemon> first_;
  std::unique_ptr<Daemon> second_;
};

bool Leads(const Daemon& daemon) {
  return daemon.Metric("leader_election_master_status").value_or(0) == 1;
}

// Waits until the daemon has nothing to write to the quota "q". After the last change of usage it
// makes one more write, which removes ended reservations.
void WaitUntilQuiet(Scenario& s, const Daemon& daemon) {
  Eventually(
      "no reservation is left",
      [&]() -> std::string {
        const std::string list = s.ReservationsOf("q");
        return list.find(R"("reservations")") == std::string::npos ? "" : list;
      },
      Stretched(30s));
  // A worker that has sent a write is busy until it has read the answer.
  Eventually("the daemon has got its answers", [&]() -> std::string {
    const auto busy = daemon.Metric("workqueue_unfinished_work_seconds");
    return busy && *busy == 0 ? "" : "a worker is busy";
  });
}

}  // namespace

TEST_CASE("under load: daemon, API server and etcd are killed in turn",
          "[e2e][faults][load][real-only][slow]") {
  const auto server = StartServer();
  Admission a(*server, {});
  UnderLoad load(a.scenario());
  load.AwaitDecided(60);
  a.daemon().Kill();
  a.daemon().Start();
  a.daemon().WaitUntilReady();
  load.AwaitDecided(40);
  load.ExpectTrue();

  server->Kill();
  server->Start();
  load.AwaitDecided(40, 60s);
  load.ExpectTrue();

  server->KillStore();
  (void)a.api().Do({.path = "/readyz", .timeout = 2s});  // away for longer than a request
  server->StartStore();
  load.AwaitDecided(40, 60s);
  load.ExpectTrue();
  CHECK(a.daemon().Running());
  CHECK(load.refused() > 0);
  WARN(load.admitted() << " admitted, " << load.refused() << " refused, " << load.undecided()
                       << " undecided");
}

TEST_CASE("under load: a daemon is killed again and again", "[e2e][faults][load]") {
  Admission a;
  UnderLoad load(a.scenario());
  for (int kills = 0; kills < 3; ++kills) {
    load.AwaitDecided(30);
    a.daemon().Kill();
    a.daemon().Start();
    a.daemon().WaitUntilReady();
  }
  load.AwaitDecided(30);
  load.ExpectTrue();
  CHECK(load.refused() > 0);
}

TEST_CASE("under load: another replica leads after a leader was suspended beyond its lease",
          "[e2e][faults][load]") {
  Scenario s;
  TwoReplicas replicas(s);
  UnderLoad load(s);
  load.AwaitDecided(60);
  REQUIRE(Leads(replicas.first()));
  // No write may be running: a write answered after the pause would look like a new one.
  load.Pause();
  load.ExpectTrue();
  WaitUntilQuiet(s, replicas.first());
  replicas.first().Signal(SIGSTOP);
  load.Resume();
  replicas.SendToSecondOnly();
  Eventually("the other replica leads", [&] { return Leads(replicas.second()) ? "" : "not yet"; });
  load.AwaitDecided(60);
  load.Pause();
  load.ExpectTrue();

  // Reviews that reached it meanwhile may still be charged, for callers that have given up. Only
  // the leader writes what it counted.
  const std::size_t before = replicas.first().Log().size();
  replicas.first().Signal(SIGCONT);
  CHECK(replicas.first().WaitEnd(Stretched(25s)) == 1);
  const std::string said = replicas.first().Log().substr(before);
  INFO(said);
  CHECK(said.find("the lease is lost") != std::string::npos);
  CHECK(said.find("status written") == std::string::npos);
  load.ExpectTrue();
  load.Resume();
  load.AwaitDecided(40);
  load.ExpectTrue();
  CHECK(replicas.second().Running());
}

}  // namespace e2e::process_faults_test
