// Enforcement is turned off by a flag, by replaced replicas, or by an admin with --break-glass. No
// request is refused afterwards.
#include <catch2/catch.hpp>

#include "pkg/webhook/ownership.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::enforcement_off_test {
namespace {

std::vector<std::string> LeaseFlags(const std::string& identity) {
  const auto text = [](std::chrono::milliseconds time) {
    return std::to_string(time.count()) + "ms";
  };
  return {"--leader-elect=true",
          "--leader-elect-resource-namespace=default",
          "--leader-elect-identity=" + identity,
          "--leader-elect-lease-duration=" + text(Stretched(4s)),
          "--leader-elect-renew-deadline=" + text(Stretched(3s)),
          "--leader-elect-retry-period=" + text(Stretched(500ms))};
}

// One more replica of the same installation.
class Replica {
 public:
  Replica(Admission& a, const std::string& identity, bool enforces)
      : daemon_({.kubeconfig = a.scenario().server().Kubeconfig(),
                 .more_flags = Flags(identity, enforces)}) {
    daemon_.WaitUntilReady();
  }
  [[nodiscard]] Daemon& daemon() { return daemon_; }

 private:
  static std::vector<std::string> Flags(const std::string& identity, bool enforces) {
    std::vector<std::string> flags = LeaseFlags(identity);
    if (!enforces) return flags;
    const std::string address = "127.0.0.1:" + std::to_string(FreePort());
    flags.insert(flags.end(), {"--enforce=core", "--admission-bind-address=" + address,
                               "--admission-url=https://" + address});
    return flags;
  }

  Daemon daemon_;
};

void WaitUntilLeads(const Daemon& daemon) {
  Eventually("the replica leads",
             [&] { return daemon.Metric("leader_election_master_status") == 1 ? "" : "not yet"; });
}

void WaitUntilPods(Admission& a, bool refused) {
  Eventually(refused ? "pods are refused" : "pods pass", [&]() -> std::string {
    const Attempt attempt = a.Post("pods", Pod(FreshName("p")), true);
    return refused == attempt.exceeded() && refused != attempt.ok() ? "" : attempt.Text();
  });
}

// Checks that the configuration stays as it is.
void StaysSo(Admission& a) {
  const auto version = [&] {
    return std::string(a.api().Get(ConfigurationPath()).StringAt({"metadata", "resourceVersion"}));
  };
  const std::string now = version();
  Always(
      "nobody writes it", [&]() -> std::string { return version() == now ? "" : "written"; }, 3s);
}

bool AsksNobody(Admission& a) { return webhook::AsksNobody(a.api().Get(ConfigurationPath())); }

ProgramResult BreakGlass(Admission& a, const std::string& lasts = "0") {
  return RunProgram({.argv = {BuiltProgram("quota-controller-manager"), "--break-glass",
                              "--break-glass-for=" + lasts,
                              "--kubeconfig=" + a.scenario().server().Kubeconfig()}},
                    Stretched(60s));
}

void MendGlass(Admission& a) {
  a.api().MergePatch(
      ConfigurationPath(),
      Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":null}}})"));
}

}  // namespace

TEST_CASE("enforcement that a flag turns off blocks no request", "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CHECK(a.Post("pods", Pod("p")).exceeded());
  SECTION("after a clean stop") { CHECK(a.daemon().Stop() == 0); }
  SECTION("after a crash") { a.daemon().Kill(); }
  a.daemon().Restart({.kubeconfig = a.scenario().server().Kubeconfig()});
  WaitUntilPods(a, false);
  CHECK(AsksNobody(a));
  a.daemon().WaitForLog("nothing is refused any more");
}

TEST_CASE("a daemon that only counts does not touch webhook configurations that are not its own",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  const Daemon counting({.kubeconfig = a.scenario().server().Kubeconfig(),
                         .more_flags = {"--leader-elect-resource-namespace=elsewhere"}});
  StaysSo(a);
  CHECK(a.Post("pods", Pod("p")).exceeded());
  a.daemon().Kill();
  a.api().MergePatch(ConfigurationPath(), Json(R"({"metadata":{"annotations":null}})"));
  StaysSo(a);
  CHECK_FALSE(AsksNobody(a));
}

TEST_CASE("a daemon that only counts, without election, leaves the rules of a live leader alone",
          "[e2e][admission][uninstall][leader]") {
  Admission a({.more_flags = LeaseFlags("first")});
  WaitUntilLeads(a.daemon());
  a.Limit("q", {{"pods", "0"}});
  Daemon trial({.kubeconfig = a.scenario().server().Kubeconfig(),
                .more_flags = {"--leader-elect-resource-namespace=default"}});
  trial.WaitUntilReady();
  trial.WaitForLog("is left alone: the lease of this installation is held");
  StaysSo(a);
  CHECK(a.Post("pods", Pod("p"), true).exceeded());
  CHECK(a.daemon().Log().find("was changed by somebody else") == std::string::npos);
  // Nobody answers reviews any more, and nobody renews the lease.
  a.daemon().Kill();
  trial.WaitForLog("nothing is refused any more");
  WaitUntilPods(a, false);
}

TEST_CASE("enforcement ends when a replica leads that only counts",
          "[e2e][admission][uninstall][leader]") {
  Admission a({.more_flags = LeaseFlags("first")});
  WaitUntilLeads(a.daemon());
  a.Limit("q", {{"pods", "0"}});
  Replica counting(a, "counting", false);
  StaysSo(a);  // a replica that enforces leads
  CHECK(a.Post("pods", Pod("p"), true).exceeded());
  CHECK(a.daemon().Stop() == 0);
  WaitUntilLeads(counting.daemon());
  WaitUntilPods(a, false);

  SECTION("an enforcing replica that does not lead keeps it off") {
    Replica late(a, "late", true);
    WaitUntilPods(a, false);
    Eventually("the configuration has no webhooks", [&] { return AsksNobody(a) ? "" : "not yet"; });
    StaysSo(a);
    CHECK(AsksNobody(a));
    // The change is reverted.
    CHECK(counting.daemon().Stop() == 0);
    WaitUntilLeads(late.daemon());
    WaitUntilPods(a, true);
    StaysSo(a);
  }
  SECTION("it stays off") {
    StaysSo(a);
    CHECK(AsksNobody(a));
  }
}

TEST_CASE("the break-glass annotation admits everything until it is removed",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CHECK(a.Post("pods", Pod("p"), true).exceeded());
  SECTION("beside a daemon, by its program") {
    const ProgramResult done = BreakGlass(a);
    INFO(done.output);
    CHECK(done.exit_code == 0);
  }
  SECTION("beside a daemon, by an annotation alone") {
    a.api().MergePatch(
        ConfigurationPath(),
        Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":"true"}}})"));
  }
  SECTION("without a daemon, by one patch") {
    a.daemon().Kill();
    CHECK_FALSE(a.Post("pods", Pod("p"), true).ok());
    a.api().MergePatch(
        ConfigurationPath(),
        Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":"true"}},
                 "webhooks":null})"));
    WaitUntilPods(a, false);
    a.daemon().Start();
    a.daemon().WaitUntilReady();
  }
  WaitUntilPods(a, false);
  StaysSo(a);
  CHECK(a.daemon().Metric("quota_admission_rules_stored") == 0);
  CHECK(a.daemon().Probe("/readyz") == 200);
  a.daemon().WaitForLog("is held open, nothing is refused");
  MendGlass(a);
  WaitUntilPods(a, true);
  Eventually("the rules are stored again", [&] {
    return a.daemon().Metric("quota_admission_rules_stored") == 1 ? "" : "not yet";
  });
}

TEST_CASE("a daemon that is still there ends a break-glass that has a duration",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CHECK(a.Post("pods", Pod("p"), true).exceeded());
  SECTION("the same one") {
    CHECK(BreakGlass(a, "5s").exit_code == 0);
    CHECK(AsksNobody(a));
    a.daemon().WaitForLog("is held open, nothing is refused");
  }
  SECTION("one that starts later") {
    a.daemon().Kill();
    CHECK(BreakGlass(a, "5s").exit_code == 0);
    WaitUntilPods(a, false);
    StaysSo(a);
    a.daemon().Start();
  }
  WaitUntilPods(a, true);
  const json::Value mended = a.api().Get(ConfigurationPath());
  CHECK(webhook::AnnotationOf(mended, webhook::kBreakGlassAnnotation) == "");
  CHECK(webhook::AnnotationOf(mended, webhook::kBreakGlassForAnnotation) == "");
  StaysSo(a);
}

TEST_CASE("a configuration deleted under break-glass is not restored",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CHECK(BreakGlass(a).exit_code == 0);
  a.daemon().WaitForLog("is held open, nothing is refused");
  a.api().Delete(ConfigurationPath());
  Always(
      "it is not made anew",
      [&]() -> std::string { return a.api().Exists(ConfigurationPath()) ? "it is there" : ""; },
      3s);
  WaitUntilPods(a, false);
  CHECK(BreakGlass(a).output.find("there is none") != std::string::npos);
}

}  // namespace e2e::enforcement_off_test
