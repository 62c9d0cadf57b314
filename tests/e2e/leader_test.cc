// Several replicas with one lease: the leader, and the time of a takeover.
#include <signal.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/source_dir.h"

namespace e2e::leader_test {
namespace {

const std::chrono::milliseconds kLease = Stretched(4s);
const std::chrono::milliseconds kDeadline = Stretched(3s);
const std::chrono::milliseconds kRetry = Stretched(500ms);
// A follower reads the lease again after up to 2.2 retry periods; then it sends two requests.
const std::chrono::milliseconds kLook = kRetry * 22 / 10 + Stretched(1s);

// A follower sees the last renewal up to one read late, and the end of the lease, too.
const std::chrono::milliseconds kTakeover = kLease + 2 * kLook;

// A namespace with a quota and pods, in which replicas compete for one lease.
class Replicas {
 public:
  Replicas() {
    s_.Create("resourcequotas", Quota("q", {{"pods", "100"}}));
    s_.Create("pods", Pod("a"));
    s_.Create("pods", Pod("b"));
  }

  [[nodiscard]] Scenario& scenario() { return s_; }
  // Starts a replica and waits until it is ready; `kubeconfig` is its own if it is not empty.
  std::unique_ptr<Daemon> Start(const std::string& identity, const std::string& kubeconfig = "") {
    auto daemon = std::make_unique<Daemon>(
        DaemonOptions{.kubeconfig = kubeconfig.empty() ? s_.server().Kubeconfig() : kubeconfig,
                      .more_flags = Flags(identity)});
    daemon->WaitUntilReady();
    return daemon;
  }
  [[nodiscard]] std::vector<std::string> Flags(const std::string& identity) const {
    const auto text = [](std::chrono::milliseconds time) {
      return std::to_string(time.count()) + "ms";
    };
    return {"--leader-elect=true",
            "--leader-elect-identity=" + identity,
            "--leader-elect-resource-name=" + lease_,
            "--leader-elect-resource-namespace=" + s_.ns(),
            "--leader-elect-lease-duration=" + text(kLease),
            "--leader-elect-renew-deadline=" + text(kDeadline),
            "--leader-elect-retry-period=" + text(kRetry)};
  }

  [[nodiscard]] std::string LeasePath() const { return s_.Path("leases", lease_); }
  std::string Holder() {
    if (!s_.api().Exists(LeasePath())) return "";
    return std::string(s_.api().Get(LeasePath()).StringAt({"spec", "holderIdentity"}));
  }
  void PutLease(const std::string& holder, int seconds) {
    json::Value lease = json::Object{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
    lease.Make({"metadata", "name"}) = lease_;
    lease.Make({"spec"}) =
        json::Object{{"holderIdentity", holder}, {"leaseDurationSeconds", seconds}};
    s_.Create("leases", lease);
  }
  // Makes a change that only a leader writes to the status.
  void ExpectLeads(const Daemon& daemon) {
    static int pods = 0;
    Eventually("the replica leads",
               [&]() -> std::string { return Leads(daemon) ? "" : "it does not"; });
    const std::string before = s_.ResourceVersion("q");
    s_.Create("pods", Pod("more-" + std::to_string(++pods)));
    Eventually("the quota is written",
               [&]() -> std::string { return s_.ResourceVersion("q") != before ? "" : "not yet"; });
  }
  static bool Leads(const Daemon& daemon) {
    return daemon.Metric("leader_election_master_status").value_or(0) == 1;
  }

 private:
  Scenario s_;
  std::string lease_ = "replicas";
};

std::chrono::milliseconds Since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

// How long from `began` until `daemon` leads.
std::chrono::milliseconds UntilLeads(
    const Daemon& daemon,
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now()) {
  Eventually("the other replica leads", [&]() -> std::string {
    return Replicas::Leads(daemon) ? "" : "it follows; its log:\n" + Tail(daemon.Log(), 5);
  });
  return Since(began);
}

// Number of statuses that the daemon wrote.
double Written(const Daemon& daemon) {
  std::istringstream lines(daemon.MetricsText());
  double written = 0;  // of all quota APIs
  for (std::string line; std::getline(lines, line);) {
    const bool here = line.starts_with("quota_reconcile_total{") &&
                      line.find("result=\"written\"") != std::string::npos;
    if (here) written += std::stod(line.substr(line.rfind(' ')));
  }
  return written;
}

}  // namespace

TEST_CASE("one of two replicas leads, and both are ready", "[e2e][leader][server]") {
  Replicas r;
  Scenario& s = r.scenario();
  const auto a = r.Start("first");
  s.WaitUsed("q", {{"pods", "2"}});
  const auto b = r.Start("second");
  CHECK(Replicas::Leads(*a));
  CHECK_FALSE(Replicas::Leads(*b));
  CHECK(r.Holder() == "first");
  for (const char* path : {"/readyz", "/livez", "/healthz/leaderElection"}) {
    CHECK(a->Probe(path) == 200);
    CHECK(b->Probe(path) == 200);
  }

  s.Create("pods", Pod("c"));
  s.WaitUsed("q", {{"pods", "3"}});
  // The status can be read before its writer has the answer and counts the write.
  Eventually("both writes are counted", [&] { return Written(*a) >= 2 ? "" : "not yet"; });
  CHECK(Written(*b) == 0);
  b->WaitForLog("following lease=" + s.ns() + "/replicas holder=first");
  Eventually("an Event names the leader", [&]() -> std::string {
    const auto events = json::Write(s.api().Get(s.Path("events")));
    return events.find("first became leader") != std::string::npos ? "" : events;
  });

  // The lease is renewed: no other replica takes it when it would have expired.
  Always(
      "the first one leads", [&]() -> std::string { return Replicas::Leads(*b) ? "no" : ""; },
      kLease + kLook);
  CHECK(Replicas::Leads(*a));
}

TEST_CASE("the other replica leads after the lease of a killed leader has ended", "[e2e][leader]") {
  Replicas r;
  Scenario& s = r.scenario();
  auto a = r.Start("first");
  s.WaitUsed("q", {{"pods", "2"}});
  const auto b = r.Start("second");
  const auto killed = std::chrono::steady_clock::now();
  a->Kill();
  s.Delete("pods", "a");
  const auto took = UntilLeads(*b, killed);
  CHECK(took >= kLease / 2);
  CHECK(took <= kTakeover);
  s.WaitUsed("q", {{"pods", "1"}});
  CHECK(s.api().Get(r.LeasePath()).At({"spec", "leaseTransitions"})->AsInt64() == 1);
}

TEST_CASE("a leader that stops releases its lease to the other replica", "[e2e][leader][server]") {
  Replicas r;
  Scenario& s = r.scenario();
  const auto a = r.Start("first");
  s.WaitUsed("q", {{"pods", "2"}});
  const auto b = r.Start("second");
  CHECK(a->Stop() == 0);
  const auto took = UntilLeads(*b);
  CHECK(took <= kLook);
  r.ExpectLeads(*b);
  CHECK(a->Log().find("released the lease") != std::string::npos);
}

TEST_CASE("a leader that was suspended beyond its lease writes nothing and exits with 1",
          "[e2e][leader]") {
  Replicas r;
  Scenario& s = r.scenario();
  const auto a = r.Start("first");
  s.WaitUsed("q", {{"pods", "2"}});
  auto b = r.Start("second");
  a->Signal(SIGSTOP);
  UntilLeads(*b);
  s.Create("pods", Pod("c"));
  s.WaitUsed("q", {{"pods", "3"}});
  // From now on nobody leads, and the status is wrong: only the first replica could have written
  // it.
  b->Kill();
  s.Delete("pods", "c");
  const std::string before = s.ResourceVersion("q");
  a->Signal(SIGCONT);
  CHECK(a->WaitEnd(Stretched(25s)) == 1);
  CHECK(s.ResourceVersion("q") == before);
  CHECK(a->Log().find("the lease is lost") != std::string::npos);

  const auto c = r.Start("third");
  s.WaitUsed("q", {{"pods", "2"}});
}

TEST_CASE("a leader without answers of the server exits with 1, and the other replica leads",
          "[e2e][leader]") {
  Replicas r;
  Scenario& s = r.scenario();
  TcpProxy proxy(s.server().port());
  const auto a = r.Start("first", s.server().Kubeconfig(proxy.port()));
  s.WaitUsed("q", {{"pods", "2"}});
  const auto b = r.Start("second");
  const auto stalled = std::chrono::steady_clock::now();
  proxy.Stall(true);
  s.Delete("pods", "a");
  const auto took = UntilLeads(*b, stalled);
  CHECK(took <= kTakeover);
  s.WaitUsed("q", {{"pods", "1"}});
  CHECK_FALSE((a->Running() && Replicas::Leads(*a)));
  CHECK(a->WaitEnd(Stretched(25s)) == 1);
}

// A leader would end. A follower must not get reviews that it cannot decide.
TEST_CASE("a follower without answers of the server is not ready until the server answers again",
          "[e2e][leader]") {
  Replicas r;
  TcpProxy proxy(r.scenario().server().port());
  const auto a = r.Start("first");
  const auto b = r.Start("second", r.scenario().server().Kubeconfig(proxy.port()));
  proxy.Refuse(true);
  proxy.Cut();
  Eventually(
      "the follower is not ready", [&] { return b->Probe("/readyz") == 200 ? "it is" : ""; },
      Stretched(75s));
  CHECK(PlainGet(b->probe_port(), "/readyz").body.find("the API server has not answered since") !=
        std::string::npos);
  CHECK(b->Probe("/livez") == 200);
  CHECK(a->Probe("/readyz") == 200);
  proxy.Refuse(false);
  b->WaitUntilReady();
}

TEST_CASE("a leader keeps its lease when all its connections lead nowhere", "[e2e][leader]") {
  Replicas r;
  TcpProxy proxy(r.scenario().server().port());
  const auto a = r.Start("first", r.scenario().server().Kubeconfig(proxy.port()));
  // Written slowly, and so at the same time: the daemon keeps several connections.
  proxy.Slow(50ms);
  for (int i = 0; i < 20; ++i) {
    r.scenario().Create("resourcequotas", Quota("q" + std::to_string(i), {{"pods", "9"}}));
  }
  r.scenario().WaitUsed("q19", {{"pods", "2"}});
  proxy.Slow(0ms);
  proxy.Abandon();
  Always(
      "it leads", [&]() -> std::string { return Replicas::Leads(*a) ? "" : a->Log(); }, 2 * kLease);
}

TEST_CASE("the lease of another holder is not taken before it ends", "[e2e][leader][server]") {
  Replicas r;
  Scenario& s = r.scenario();
  r.PutLease("somebody-else", 3600);
  const auto a = r.Start("first");
  Always(
      "nothing is written",
      [&]() -> std::string { return Replicas::Leads(*a) || !s.Used("q").empty() ? "it was" : ""; },
      kLease + kLook);
  CHECK(r.Holder() == "somebody-else");
  CHECK(a->Probe("/readyz") == 200);
  SECTION("the holder releases it") {
    s.api().MergePatch(r.LeasePath(), Json(R"({"spec":{"holderIdentity":""}})"));
  }
  SECTION("the holder shortens it and stops renewing") {
    s.api().MergePatch(r.LeasePath(), Json(R"({"spec":{"leaseDurationSeconds":1}})"));
  }
  s.WaitUsed("q", {{"pods", "2"}}, 1s + 2 * kLook);
  CHECK(r.Holder() == "first");
}

TEST_CASE("a leader whose lease is deleted creates it again and still leads", "[e2e][leader]") {
  Replicas r;
  Scenario& s = r.scenario();
  const auto a = r.Start("first");
  s.WaitUsed("q", {{"pods", "2"}});
  const auto b = r.Start("second");
  s.api().Delete(r.LeasePath());
  Eventually("the lease is created again", [&] { return r.Holder() == "first" ? "" : "not yet"; });
  r.ExpectLeads(*a);
  CHECK_FALSE(Replicas::Leads(*b));
}

TEST_CASE("a lease that cannot be used is logged, and taken once it can be", "[e2e][leader]") {
  Replicas r;
  Scenario& s = r.scenario();
  const std::string ns = FreshName("later");
  std::vector<std::string> flags = r.Flags("first");
  flags.push_back("--leader-elect-resource-namespace=" + ns);
  Daemon a({.kubeconfig = s.server().Kubeconfig(), .more_flags = flags});
  a.WaitUntilReady();
  a.WaitForLog("cannot use the lease, retrying lease=" + ns + "/replicas");
  CHECK(s.Used("q").empty());
  s.api().Create(PathOf("namespaces"), Namespace(ns));
  s.WaitUsed("q", {{"pods", "2"}});
  CHECK(a.Stop() == 0);
  s.api().Delete(PathOf("namespaces", "", ns));
}

// The Role of the manifest, in the scenario's namespace, for a user without other rights.
TEST_CASE("the shipped rights allow the daemon its own lease and no other",
          "[e2e][leader][real-only][server]") {
  Scenario s;
  const auto documents = config::ParseYamlDocuments(
      ReadFile(tests::SourcePath("/manifests/base/quota-controller-manager.yaml")));
  REQUIRE(documents.has_value());
  for (json::Value document : *documents) {
    const bool lease = document.StringAt({"metadata", "name"}) == "quota-controller-manager-lease";
    if (!lease) continue;
    document.Make({"metadata", "namespace"}) = s.ns();
    const bool role = document.StringAt({"kind"}) == "Role";
    if (!role) document.Make({"subjects"}) = Json(R"([{"kind":"User","name":"stranger"}])");
    s.api().Create("/apis/rbac.authorization.k8s.io/v1/namespaces/" + s.ns() +
                       (role ? "/roles" : "/rolebindings"),
                   document);
  }
  TempDir dir;
  KubeconfigFields fields = s.server().Fields();
  fields.token = "e2e-stranger-token";
  const std::string kubeconfig = dir.Write("kubeconfig", KubeconfigText(fields));
  const auto start = [&](const std::string& lease) {
    return std::make_unique<Daemon>(
        DaemonOptions{.kubeconfig = kubeconfig,
                      .more_flags = {"--leader-elect=true", "--leader-elect-resource-name=" + lease,
                                     "--leader-elect-resource-namespace=" + s.ns()}});
  };
  const auto a = start("quota-controller-manager");
  a->WaitForLog("became leader");
  CHECK(a->Stop() == 0);
  CHECK(a->Log().find("released the lease") != std::string::npos);
  CHECK_FALSE(s.api().Get(s.Path("leases", "quota-controller-manager")).IsNull());

  const auto b = start("other");
  b->WaitForLog(R"(leases.coordination.k8s.io \"other\" is forbidden)");
  CHECK_FALSE(Replicas::Leads(*b));
}

TEST_CASE("the lease outside of a cluster is in kube-system, and is released by a stop",
          "[e2e][leader]") {
  Scenario s;
  const std::string path = PathOf("leases", "kube-system", "quota-controller-manager");
  s.Create("resourcequotas", Quota("q", {{"pods", "100"}}));
  // A daemon killed by another scenario would hold it for 15 s.
  s.api().Delete(path);
  for (int i = 0; i < 2; ++i) {
    Daemon a({.kubeconfig = s.server().Kubeconfig(), .more_flags = {"--leader-elect=true"}});
    a.WaitUntilReady();
    // Far less than the 15 s of a held lease.
    Eventually(
        "the replica leads",
        [&] { return Replicas::Leads(a) ? "" : "it follows; its log:\n" + Tail(a.Log(), 5); },
        Stretched(3s));
    CHECK_FALSE(s.api().Get(path).StringAt({"spec", "holderIdentity"}).empty());
    CHECK(a.Stop() == 0);
    CHECK(s.api().Get(path).StringAt({"spec", "holderIdentity"}).empty());
  }
  s.api().Delete(path);
}

}  // namespace e2e::leader_test
