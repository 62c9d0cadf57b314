// What the Helm chart installs can be tested, upgraded, rolled back and removed completely. Needs
// QCM_HELM and KUBEBUILDER_ASSETS.
#include <algorithm>
#include <catch2/catch.hpp>
#include <future>
#include <iterator>

#include "pkg/webhook/stored_configuration.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"
#include "tests/manifests/helm.h"
#include "tests/source_dir.h"

namespace e2e::helm_test {
namespace {

using Words = std::vector<std::string>;

const std::string kLastRelease =
    tests::SourcePath("/tests/manifests/quota-controller-manager-0.1.0.tgz");

Words Arguments(const json::Value& container) {
  Words arguments;
  for (const json::Value& argument : *container.At({"args"})->AsArray()) {
    arguments.emplace_back(*argument.AsString());
  }
  return arguments;
}

// The daemon's arguments in the Deployment as stored.
Words StoredArguments(Installation& installation) {
  const json::Value stored =
      installation.api().Get(PathOf("deployments", kQuotaSystem, "quota-controller-manager"));
  return Arguments(stored.At({"spec", "template", "spec", "containers"})->AsArray()->front());
}

// Does what a kubelet and the Job controller do: runs the hook's container as its ServiceAccount,
// and reports that it has finished.
void RunHook(Installation& installation, const std::string& path) {
  Eventually("the hook is made", [&] { return installation.api().Exists(path) ? "" : "not yet"; });
  const json::Value job = installation.api().Get(path);
  const json::Value& pod = *job.At({"spec", "template", "spec"});
  CHECK(pod.StringAt({"serviceAccountName"}) == "quota-controller-manager");
  ProcessOptions program;
  program.argv = {BuiltProgram("quota-controller-manager"),
                  "--kubeconfig=" + installation.KubeconfigOfDaemon(),
                  std::string("--leader-elect-resource-namespace=") + kQuotaSystem};
  std::ranges::move(Arguments(pod.At({"containers"})->AsArray()->at(0)),
                    std::back_inserter(program.argv));
  const auto result = RunProgram(program, Stretched(30s));
  INFO(result.output);
  CHECK(result.exit_code == 0);
  installation.api().MergePatch(path + "/status", Json(R"({"status":{
      "startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":1,
      "conditions":[{"type":"SuccessCriteriaMet","status":"True"},
                    {"type":"Complete","status":"True"}]}})"));
}

// Runs a container of the test's pod, whose image is a kubectl, as the pod's ServiceAccount.
ProgramResult RunTest(Installation& installation, const json::Value& container,
                      const Words& more_arguments = {}) {
  CHECK_THAT(std::string(container.StringAt({"image"})), Catch::Contains("/kubectl:"));
  ProcessOptions program;
  program.argv = {KubectlProgram(),
                  "--kubeconfig=" + installation.KubeconfigOf("quota-controller-manager-test")};
  std::ranges::move(Arguments(container), std::back_inserter(program.argv));
  program.argv.insert(program.argv.end(), more_arguments.begin(), more_arguments.end());
  return RunProgram(program, Stretched(90s));
}

}  // namespace

TEST_CASE("helm test waits for the replicas, and for a quota to be counted", "[helm]") {
  Installation installation;
  const Words where{"--kubeconfig=" + installation.server().Kubeconfig(),
                    std::string("--namespace=") + kQuotaSystem};
  const auto helm = [&](Words arguments) {
    arguments.insert(arguments.end(), where.begin(), where.end());
    return MustHelm(std::move(arguments));
  };
  CHECK_THAT(helm({"install", "quotas", kChart, "--create-namespace"}),
             Catch::Contains("helm test quotas -n quota-system"));
  // As the notes say: the test's pod must comply, too.
  installation.Kubectl(
      {"label", "namespace", kQuotaSystem, "pod-security.kubernetes.io/enforce=restricted"});
  auto tested = std::async(std::launch::async, [&] { return helm({"test", "quotas"}); });
  const std::string path = PathOf("pods", kQuotaSystem, "quota-controller-manager-test");
  Eventually("the pod is made", [&] { return installation.api().Exists(path) ? "" : "not yet"; });
  const json::Value pod = installation.api().Get(path);
  const json::Value& ready = pod.At({"spec", "initContainers"})->AsArray()->at(0);
  const json::Value& counted = pod.At({"spec", "containers"})->AsArray()->at(0);
  CHECK(RunTest(installation, ready, {"--timeout=1s"}).exit_code != 0);
  CHECK(RunTest(installation, counted, {"--timeout=1s"}).exit_code != 0);

  Daemon daemon(installation.AsDeployed("base"));
  installation.api().MergePatch(
      PathOf("deployments", kQuotaSystem, "quota-controller-manager", "status"),
      Json(R"({"status":{"conditions":[{"type":"Available","status":"True"}]}})"));
  for (const json::Value* container : {&ready, &counted}) {
    const ProgramResult result = RunTest(installation, *container);
    INFO(result.output);
    CHECK(result.exit_code == 0);
  }
  installation.api().MergePatch(path + "/status", PhasePatch("Succeeded"));
  CHECK_THAT(tested.get(), Catch::Contains("Succeeded"));
  for (const char* kind : {"pods", "serviceaccounts"}) {
    const std::string left = PathOf(kind, kQuotaSystem, "quota-controller-manager-test");
    CHECK_FALSE(installation.api().Exists(left));
  }
  CHECK_FALSE(installation.api().Exists(ClusterQuotas::Path("quota-controller-manager-test")));
}

TEST_CASE(
    "the objects of a release stay through helm upgrade and rollback, and are deleted by uninstall",
    "[helm]") {
  Installation installation;
  const auto helm = [&](Words arguments) {
    arguments.push_back("--kubeconfig=" + installation.server().Kubeconfig());
    arguments.push_back(std::string("--namespace=") + kQuotaSystem);
    return MustHelm(std::move(arguments));
  };
  helm({"install", "quotas", kLastRelease, "--create-namespace", "--set=enforce={core}"});
  Daemon daemon(installation.AsDeployed("core-enforced"));
  daemon.WaitUntilReady();
  const std::string secret_path =
      PathOf("secrets", kQuotaSystem, "quota-controller-manager-certificate");
  const auto kept = [&] {
    json::Value both;
    both.Make({"webhooks"}) = *installation.api().Get(ConfigurationPath()).At({"webhooks"});
    both.Make({"data"}) = *installation.api().Get(secret_path).At({"data"});
    return both;
  };
  installation.api().Create(PathOf("resourcequotas", "default"), Quota("q", {{"pods", "1"}}));
  Eventually("there are rules", [&] {
    const json::Value stored = installation.api().Get(ConfigurationPath());
    const json::Value* webhooks = stored.At({"webhooks"});
    return webhooks != nullptr && !webhooks->AsArray()->empty() ? "" : "none";
  });
  const json::Value before = kept();
  CHECK(installation.api()
            .Get(ConfigurationPath())
            .StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) == "Helm");

  // The notes name the namespaces that do not depend on the daemon.
  CHECK_THAT(helm({"upgrade", "quotas", kChart,
                   "--set=enforce={core},replicas=3,monitoring.enabled=true"}),
             Catch::Contains("in quota-system and kube-system kube-public kube-node-lease ") &&
                 Catch::Contains(" cert-manager ") && Catch::Contains("gke-managed-system.\n"));
  CHECK(kept() == before);
  CHECK_THAT(
      helm({"upgrade", "quotas", kChart, "--set=enforce={core},exemptNamespaces={kube-system,shop}",
            "--set=exemptNamespaceSelector=tier=system"}),
      Catch::Contains("in quota-system and kube-system shop, and in namespaces with the "
                      "labels tier=system.\n"));
  helm({"rollback", "quotas", "1"});
  CHECK(kept() == before);
  helm({"upgrade", "quotas", kChart, "--set=enforce={core}"});
  CHECK(kept() == before);
  CHECK(daemon.Probe("/readyz") == 200);

  // While a daemon still runs.
  const std::string jobs = "/apis/batch/v1/namespaces/" + std::string(kQuotaSystem) + "/jobs";
  auto uninstalled = std::async(std::launch::async, [&] { return helm({"uninstall", "quotas"}); });
  RunHook(installation, jobs + "/quota-controller-manager-uninstall");
  uninstalled.get();
  Always(
      "the configuration stays away",
      [&] { return installation.api().Exists(ConfigurationPath()) ? "it is there" : ""; }, 3s);
  CHECK_FALSE(installation.api().Exists(secret_path));
  CHECK(daemon.Stop() == 0);
}

TEST_CASE("helm upgrade changes the values that it names, keeps the others, and takes null as off",
          "[helm]") {
  Installation installation;
  const auto helm = [&](Words arguments) {
    arguments.push_back("--kubeconfig=" + installation.server().Kubeconfig());
    arguments.push_back(std::string("--namespace=") + kQuotaSystem);
    return MustHelm(std::move(arguments));
  };
  const auto change = [&](const std::string& values) {
    return helm({"upgrade", "quotas", kChart, "--reset-then-reuse-values", "--set=" + values});
  };
  const Words common{"--resync-period=5m", "--quota-apis=core,cluster",
                     "--admission-service=quota-system/quota-controller-manager:443",
                     "--enforce=core,cluster",
                     "--admission-client-ca=/etc/quota-controller-manager/client-ca/ca.crt"};
  Words lenient = common;
  lenient.emplace_back("--admission-failure-policy=Ignore");
  helm({"install", "quotas", kLastRelease, "--create-namespace", "--set=enforce={core}"});
  CHECK_THAT(change("enforce={core,cluster},clientCA=callers,failurePolicy=Ignore"),
             Catch::Contains("kube-apiserver, which must run with"));
  CHECK(StoredArguments(installation) == lenient);
  change("failurePolicy=Fail");
  CHECK(StoredArguments(installation) == common);
  change("failurePolicy=Ignore");
  CHECK(StoredArguments(installation) == lenient);
  CHECK_THAT(change("enforce=null"), !Catch::Contains("must run with"));
  CHECK(StoredArguments(installation) == Words{"--resync-period=5m", "--quota-apis=core,cluster",
                                               "--admission-failure-policy=Ignore"});
}

TEST_CASE("enforcement that a rollback turns off blocks no request", "[helm]") {
  Installation installation;
  const auto helm = [&](Words arguments) {
    arguments.push_back("--kubeconfig=" + installation.server().Kubeconfig());
    arguments.push_back(std::string("--namespace=") + kQuotaSystem);
    return MustHelm(std::move(arguments));
  };
  helm({"install", "quotas", kChart, "--create-namespace"});
  helm({"upgrade", "quotas", kChart, "--set=enforce={core}"});
  installation.api().Create(PathOf("resourcequotas", "default"), Quota("q", {{"pods", "1"}}));
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  {
    Daemon enforcing(
        installation.AsDeployed("core-enforced", {"--admission-bind-address=" + address}));
    enforcing.WaitUntilReady();
    Eventually("there are rules", [&] {
      return webhook::AsksNobody(installation.api().Get(ConfigurationPath())) ? "none" : "";
    });
    CHECK(enforcing.Stop() == 0);
  }
  helm({"rollback", "quotas", "1"});
  CHECK(installation.api().Exists(PathOf("services", kQuotaSystem, "quota-controller-manager")));
  Daemon counting(installation.AsDeployed("base"));
  counting.WaitUntilReady();
  Eventually("a pod is made", [&] {
    const Attempt attempt =
        ToAttempt(installation.api().Do(PostOf(PathOf("pods", "default"), Pod(FreshName("p")))));
    return attempt.ok() ? std::string() : attempt.Text();
  });
}

}  // namespace e2e::helm_test
