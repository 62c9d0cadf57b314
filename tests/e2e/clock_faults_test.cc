// The wall clock of the daemon's machine is changed while pods are created and deleted at a limit.
// That affects certificates, the lease, and pods with a deletion grace period.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/shifted_clock.h"
#include "tests/e2e/harness/under_load.h"

namespace e2e::clock_faults_test {
namespace {

// A daemon with admission and a lease, under a clock that the test sets.
class Clocked {
 public:
  Clocked() : proxy_(s_.server().port()) {
    const std::string address = "127.0.0.1:" + std::to_string(FreePort());
    s_.StartDaemon(
        {.kubeconfig = s_.server().Kubeconfig(proxy_.port()),
         .more_flags = {"--enforce=core", "--admission-bind-address=" + address,
                        "--admission-url=https://" + address, "--leader-elect=true",
                        "--leader-elect-resource-name=clocked",
                        "--leader-elect-resource-namespace=" + s_.ns(),
                        "--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=6s",
                        "--leader-elect-retry-period=1s"},
         .env = clock.Environment()});
  }
  ~Clocked() {
    s_.StopDaemon();
    for (const std::string& path : {ConfigurationPath(), s_.Path("leases", "clocked")}) {
      (void)s_.api().Do({.verb = "DELETE", .path = path, .timeout = Stretched(5s)});
    }
  }
  Clocked(const Clocked&) = delete;
  Clocked& operator=(const Clocked&) = delete;

  [[nodiscard]] Scenario& scenario() { return s_; }
  [[nodiscard]] Daemon& daemon() { return s_.daemon(); }
  // Cuts all connections to the server, so that they are made again under the current clock.
  void Reconnect() { proxy_.Cut(); }

  ShiftedClock clock;

 private:
  Scenario s_;
  TcpProxy proxy_;
};

// How often the daemon has issued all its certificates.
int NewCertificates(const Daemon& daemon) {
  const std::string log = daemon.Log();
  const std::string words = "serving certificate: new CA and certificate";
  int seen = 0;
  for (auto at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) ++seen;
  return seen;
}

void WaitForNewCertificates(const Daemon& daemon, int times) {
  Eventually("new certificates of the webhook are issued", [&]() -> std::string {
    const int seen = NewCertificates(daemon);
    return seen >= times ? "" : std::to_string(seen) + " times";
  });
}

// A deleted pod with this grace period; it stays, as on a lost node.
void MakeEnding(Scenario& s, const std::string& name, int grace_seconds) {
  json::Value pod = Pod(name, {{"cpu", "100m"}});
  pod.Make({"spec", "nodeName"}) = "lost";
  s.Create("pods", pod);
  const auto deleted =
      s.api().Do({.verb = "DELETE",
                  .path = s.Path("pods", name),
                  .query = {{"gracePeriodSeconds", std::to_string(grace_seconds)}}});
  if (!deleted) throw std::runtime_error(deleted.error().message);
}

}  // namespace

TEST_CASE("under load: the clock is set an hour ahead and an hour back", "[e2e][faults][load]") {
  REQUIRE(ShiftedClock::Built());
  Clocked c;
  UnderLoad load(c.scenario());
  load.AwaitDecided(30);
  for (const std::chrono::seconds shift : {3600s, 0s, -3600s, 0s}) {
    INFO("the clock is wrong by " << shift.count() << " s");
    c.clock.Set(shift);
    c.Reconnect();
    load.AwaitDecided(30);
    load.ExpectTrue();
    CHECK(c.daemon().Metric("leader_election_master_status") == 1);
  }
  CHECK(load.refused() > 0);
}

TEST_CASE("under load: the clock is set 400 days ahead, and right again", "[e2e][faults][load]") {
  REQUIRE(ShiftedClock::Built());
  Clocked c;
  UnderLoad load(c.scenario());
  load.AwaitDecided(30);
  c.clock.Set(400 * 24h);
  c.Reconnect();
  // The webhook's certificate has expired for the daemon. The new one is valid as early as the
  // former one, so the API server, whose clock is right, accepts it.
  WaitForNewCertificates(c.daemon(), 2);
  load.DeleteSome(3);
  load.ExpectTrue();
  c.clock.Set(0s);
  c.Reconnect();
  load.AwaitDecided(30, Stretched(30s));
  load.ExpectTrue();
  CHECK(NewCertificates(c.daemon()) == 2);  // it is good for both clocks
  CHECK(c.daemon().Metric("leader_election_master_status") == 1);
}

TEST_CASE("a pod past its grace period is freed by the current clock, even after the clock was set",
          "[e2e][faults]") {
  REQUIRE(ShiftedClock::Built());
  Clocked c;
  Scenario& s = c.scenario();
  s.Create("resourcequotas", Quota("q", {{"pods", "10"}}));
  MakeEnding(s, "ending", 600);
  s.Create("pods", Pod("stays"));
  s.WaitUsed("q", {{"pods", "2"}});
  c.clock.Set(3600s);
  s.WaitUsed("q", {{"pods", "1"}}, Stretched(30s));
  c.clock.Set(0s);
  s.WaitUsed("q", {{"pods", "2"}}, Stretched(30s));
  c.clock.Set(-3600s);
  s.Create("pods", Pod("another"));
  s.WaitUsed("q", {{"pods", "3"}}, Stretched(30s));
}

}  // namespace e2e::clock_faults_test
