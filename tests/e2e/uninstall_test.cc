// The webhook configuration belongs to one of several installations, is defended against edits, and
// belongs to nobody after an uninstall.
#include <catch2/catch.hpp>

#include "pkg/webhook/ownership.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::uninstall_test {
namespace {

std::vector<std::string> LeaseFlags(const std::string& ns) {
  const auto text = [](std::chrono::milliseconds time) {
    return std::to_string(time.count()) + "ms";
  };
  return {"--leader-elect=true", "--leader-elect-resource-namespace=" + ns,
          "--leader-elect-lease-duration=" + text(Stretched(6s)),
          "--leader-elect-renew-deadline=" + text(Stretched(5s)),
          "--leader-elect-retry-period=" + text(Stretched(500ms))};
}

ProgramResult Uninstall(Admission& a, const std::vector<std::string>& flags) {
  std::vector<std::string> argv{BuiltProgram("quota-controller-manager"), "--uninstall",
                                "--kubeconfig=" + a.scenario().server().Kubeconfig()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return RunProgram({.argv = argv}, Stretched(60s));
}

bool Says(const ProgramResult& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

json::Value LabelledSecret(const std::string& name, bool ours) {
  json::Value secret = Secret(name);
  if (ours) {
    secret.Make({"metadata", "labels", webhook::kManagedByLabel}) =
        std::string(webhook::kManagedByUs);
  }
  return secret;
}

// Another daemon that would enforce the same quotas, of the installation with this lease.
class Second {
 public:
  Second(Admission& a, const std::string& lease_namespace)
      : address_("127.0.0.1:" + std::to_string(FreePort())),
        daemon_({.kubeconfig = a.scenario().server().Kubeconfig(),
                 .more_flags = {"--enforce=core", "--admission-bind-address=" + address_,
                                "--admission-url=https://" + address_,
                                "--leader-elect-resource-namespace=" + lease_namespace}}) {}
  [[nodiscard]] Daemon& daemon() { return daemon_; }

 private:
  std::string address_;
  Daemon daemon_;
};

std::string VersionOf(Admission& a) {
  return std::string(a.api().Get(ConfigurationPath()).StringAt({"metadata", "resourceVersion"}));
}

}  // namespace

TEST_CASE("uninstall: all our objects are deleted, and others are kept", "[e2e][uninstall]") {
  Admission a({.more_flags = LeaseFlags("default")});
  const std::string ns = a.scenario().ns();
  a.Limit("q", {{"pods", "0"}});
  CHECK(a.Post("pods", Pod("p")).exceeded());
  a.scenario().Create("secrets", LabelledSecret("web-certificate", true));
  a.scenario().Create("secrets", LabelledSecret("mine-certificate", false));
  const std::string lease = PathOf("leases", "default", kConfigurationName);
  std::vector<std::string> flags{"--leader-elect-resource-namespace=default",
                                 "--admission-service=" + ns + "/web:443"};

  const ProgramResult too_early = Uninstall(a, flags);
  INFO(too_early.output);
  CHECK(too_early.exit_code == 1);
  CHECK(Says(too_early, "a daemon still runs"));
  CHECK(a.api().Exists(ConfigurationPath()));

  SECTION("after a clean stop") { CHECK(a.daemon().Stop() == 0); }
  SECTION("after a crash") { a.daemon().Kill(); }
  const ProgramResult done = Uninstall(a, flags);
  INFO(done.output);
  CHECK(done.exit_code == 0);
  CHECK(Says(done, "validatingwebhookconfiguration quota-controller-manager: deleted"));
  CHECK(Says(done, "secret " + ns + "/web-certificate: deleted"));
  CHECK(Says(done, "lease default/quota-controller-manager: deleted"));
  CHECK_FALSE(a.api().Exists(ConfigurationPath()));
  CHECK_FALSE(a.api().Exists(a.scenario().Path("secrets", "web-certificate")));
  CHECK_FALSE(a.api().Exists(lease));
  Eventually("pods are created as before", [&] {
    const Attempt attempt = a.Post("pods", Pod("free"));
    return attempt.ok() ? std::string() : attempt.Text();
  });

  flags.back() = "--admission-service=" + ns + "/mine:443";
  const ProgramResult again = Uninstall(a, flags);
  CHECK(again.exit_code == 0);
  CHECK(Says(again, "validatingwebhookconfiguration quota-controller-manager: there is none"));
  CHECK(Says(again, "secret " + ns + "/mine-certificate: does not have our label"));
  CHECK(a.api().Exists(a.scenario().Path("secrets", "mine-certificate")));
}

TEST_CASE("uninstall: AppliedClusterQuotas are deleted, and foreign ones are kept",
          "[e2e][uninstall][cluster][applied]") {
  const auto server = StartServer();  // --uninstall deletes those of all namespaces
  Scenario s(*server);
  AppliedQuotas applied(s.api());
  ClusterQuotas quotas(s.api());
  const TeamNamespace other(s.api(), "other");
  quotas.Create("everything", R"({"namespaceSelector": {}, "hard": {"pods": "10"}})");
  s.StartDaemon({.more_flags = LeaseFlags("default")});
  for (const std::string& ns : {s.ns(), other.name()}) {
    applied.WaitStatus(ns, "everything", Json(R"({"summary": "pods: 0/10"})"));
  }
  json::Value theirs = Json(R"({"apiVersion": "quota-controller-manager.io/v1alpha1",
               "kind": "AppliedClusterQuota", "metadata": {"name": "theirs"}})");
  s.api().Create(AppliedQuotas::Path(s.ns()), theirs);
  const std::vector<std::string> argv{BuiltProgram("quota-controller-manager"), "--uninstall",
                                      "--kubeconfig=" + s.server().Kubeconfig(),
                                      "--leader-elect-resource-namespace=default"};
  CHECK(s.daemon().Stop() == 0);
  const ProgramResult done = RunProgram({.argv = argv}, Stretched(60s));
  INFO(done.output);
  CHECK(done.exit_code == 0);
  CHECK_THAT(done.output, Catch::Contains(" namespaces, 1 without our label left unchanged\n"));
  for (const std::string& ns : {s.ns(), other.name()}) {
    CHECK_FALSE(s.api().Exists(AppliedQuotas::Path(ns, "everything")));
  }
  CHECK(s.api().Exists(AppliedQuotas::Path(s.ns(), "theirs")));
  const ProgramResult again = RunProgram({.argv = argv}, Stretched(60s));
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.output, Catch::Contains("appliedclusterquotas: there is none, 1 without"));

  // Without a lease and a webhook configuration, only these objects show that a daemon runs.
  s.StartDaemon();
  applied.WaitStatus(s.ns(), "everything", Json(R"({"summary": "pods: 0/10"})"));
  Eventually("a daemon that still runs is noticed", [&]() -> std::string {
    const ProgramResult running = RunProgram({.argv = argv}, Stretched(60s));
    const bool told = running.exit_code == 1 &&
                      running.output.find(
                          "appliedclusterquotas were created again by a daemon that still "
                          "runs") != std::string::npos;
    return told ? "" : running.output;
  });
}

TEST_CASE(
    "uninstall: a daemon without a lease is noticed, and another installation's configuration is "
    "kept",
    "[e2e][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "5"}});
  const ProgramResult running = Uninstall(a, {});
  INFO(running.output);
  CHECK(running.exit_code == 1);
  CHECK(Says(running, "was created again by a daemon that still runs"));
  Eventually("the rules are restored", [&] {
    return a.api().Exists(ConfigurationPath()) ? std::string() : std::string("not yet");
  });

  const ProgramResult other = Uninstall(a, {"--leader-elect-resource-namespace=elsewhere"});
  INFO(other.output);
  CHECK(other.exit_code == 0);
  CHECK(Says(other, "belongs to the installation kube-system/quota-controller-manager"));
  CHECK(a.api().Exists(ConfigurationPath()));
}

TEST_CASE("admission: a second installation is refused until the first is gone",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "5"}});
  Second second(a, "elsewhere");
  second.daemon().WaitForLog(
      "it belongs to the installation kube-system/quota-controller-manager, and this is "
      "elsewhere/quota-controller-manager");
  const std::string version = VersionOf(a);
  const std::string quota = a.scenario().ResourceVersion("q");
  Always(
      "nobody fights",
      [&]() -> std::string {
        if (second.daemon().Probe("/readyz") == 200) return "the second is ready";
        if (a.daemon().Probe("/readyz") != 200) return "the first is not";
        return VersionOf(a) == version ? "" : "the configuration is written";
      },
      3s);
  CHECK(a.scenario().ResourceVersion("q") == quota);
  CHECK(second.daemon().Probe("/livez") == 200);
  CHECK(second.daemon().Metric("quota_status_writes_total") == 0);

  a.daemon().Kill();
  CHECK(Uninstall(a, {}).exit_code == 0);
  second.daemon().WaitUntilReady();
  CHECK(webhook::InstallationOf(a.api().Get(ConfigurationPath())) ==
        "elsewhere/quota-controller-manager");
}

TEST_CASE("admission: an edited webhook configuration is restored, with an Event on it",
          "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  a.api().MergePatch(ConfigurationPath(), Json(R"({"webhooks":[]})"));
  Eventually("the rules are restored", [&]() -> std::string {
    const json::Value stored = a.api().Get(ConfigurationPath());
    const json::Value* webhooks = stored.At({"webhooks"});  // absent if there are none
    const bool some = webhooks != nullptr && webhooks->IsArray() && !webhooks->AsArray()->empty();
    return some ? "" : json::Write(stored);
  });
  const std::string uid(a.api().Get(ConfigurationPath()).StringAt({"metadata", "uid"}));
  Eventually("an Event reports the restored configuration", [&]() -> std::string {
    const json::Value events = a.api().Get(PathOf("events", "default"));
    for (const json::Value& event : *events.At({"items"})->AsArray()) {
      if (event.StringAt({"involvedObject", "uid"}) == uid &&
          event.StringAt({"reason"}) == "WebhookConfigurationRestored") {
        return "";
      }
    }
    return "no such event";
  });
  Eventually("pods are refused again", [&] {
    const Attempt attempt = a.Post("pods", Pod("p"), true);
    return attempt.exceeded() ? std::string() : attempt.Text();
  });
}

}  // namespace e2e::uninstall_test
