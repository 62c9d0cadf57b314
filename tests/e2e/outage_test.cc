// The API server is away, the network is cut, the daemon is killed: the count becomes right again
// without help.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::outage_test {
namespace {

// Creates the namespace, a quota and pods; a restarted sandbox has lost them.
void Populate(Scenario& s, int pods) {
  if (!s.api().Exists(PathOf("namespaces", "", s.ns()))) {
    s.api().Create(PathOf("namespaces"), Namespace(s.ns()));
  }
  if (!s.api().Exists(s.Path("resourcequotas", "q"))) {
    s.Create("resourcequotas", Quota("q", {{"pods", "100"}, {"cpu", "100"}}));
  }
  for (int i = 0; i < pods; ++i) {
    const auto name = "p" + std::to_string(i);
    if (!s.api().Exists(s.Path("pods", name))) s.Create("pods", Pod(name, {{"cpu", "100m"}}));
  }
}

}  // namespace

TEST_CASE("the daemon may start before its API server", "[e2e][outage]") {
  Scenario s;
  Populate(s, 3);
  TcpProxy proxy(s.server().port());
  proxy.Refuse(true);
  Daemon daemon({.kubeconfig = s.server().Kubeconfig(proxy.port())});
  Eventually("the daemon lives and tries again", [&]() -> std::string {
    if (!daemon.Running()) throw std::runtime_error("it ended: " + daemon.Log());
    return proxy.accepted() >= 3 ? "" : std::to_string(proxy.accepted()) + " connections";
  });
  CHECK(daemon.Probe("/livez") == 200);
  CHECK(daemon.Probe("/readyz") != 200);
  CHECK(s.Used("q").empty());

  proxy.Refuse(false);
  daemon.WaitUntilReady();
  s.WaitUsed("q", {{"pods", "3"}, {"cpu", "300m"}});
}

TEST_CASE("changes during a cut watch are counted", "[e2e][outage]") {
  Scenario s;
  Populate(s, 4);
  TcpProxy proxy(s.server().port());
  s.StartDaemon("5m", s.server().Kubeconfig(proxy.port()));
  s.WaitUsed("q", {{"pods", "4"}, {"cpu", "400m"}});

  proxy.Refuse(true);
  proxy.Cut();
  s.Delete("pods", "p0");
  s.Delete("pods", "p1");
  s.Create("pods", Pod("new", {{"cpu", "1"}}));
  proxy.Refuse(false);
  s.WaitUsed("q", {{"pods", "3"}, {"cpu", "1200m"}});
}

TEST_CASE("a killed daemon counts what it missed", "[e2e][outage]") {
  Scenario s;
  Populate(s, 3);
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "3"}, {"cpu", "300m"}});
  daemon.Kill();
  s.Delete("pods", "p0");
  s.Create("pods", Pod("x", {{"cpu", "2"}}));
  s.api().MergePatch(s.Path("resourcequotas", "q"), HardPatch({{"secrets", "3"}}));
  daemon.Start();
  s.WaitUsed("q", {{"pods", "3"}, {"cpu", "2200m"}, {"secrets", "0"}});
}

TEST_CASE("the daemon exits with 0 on SIGTERM", "[e2e][outage]") {
  Scenario s;
  Populate(s, 1);
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "1"}, {"cpu", "100m"}});
  CHECK(daemon.Stop() == 0);
}

TEST_CASE("the daemon exits with 0 on SIGTERM, even while a name look-up does not end",
          "[e2e][outage][sandbox-only]") {
  const TempDir dir;
  const std::string kubeconfig =
      dir.Write("kubeconfig", KubeconfigText({.server = "https://api.example.test:6443"}));
  Daemon daemon({.kubeconfig = kubeconfig, .env = Preloading("libstuck_look_up.so")});
  Eventually("the daemon lives", [&]() -> std::string {
    return daemon.Probe("/livez") == 200 ? "" : "no answer; its log:\n" + daemon.Log();
  });
  const auto began = std::chrono::steady_clock::now();
  CHECK(daemon.Stop() == 0);
  CHECK(std::chrono::steady_clock::now() - began < Stretched(10s));
}

TEST_CASE("the daemon follows an API server that was killed and came back", "[e2e][outage]") {
  const auto server = StartServer();
  Scenario s(*server);
  Populate(s, 5);
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "5"}, {"cpu", "500m"}});

  server->Kill();
  CHECK(daemon.Running());
  server->Start();
  // The sandbox has forgotten everything and its versions restart, as after restoring an old
  // backup.
  Populate(s, 2);
  if (server->keeps_objects()) s.Delete("pods", "p4");
  const bool kept = server->keeps_objects();
  s.WaitUsed("q", {{"pods", kept ? "4" : "2"}, {"cpu", kept ? "400m" : "200m"}}, Stretched(60s));
  s.Create("pods", Pod("later", {{"cpu", "50m"}}));
  s.WaitUsed("q", {{"pods", kept ? "5" : "3"}, {"cpu", kept ? "450m" : "250m"}});
}

}  // namespace e2e::outage_test
