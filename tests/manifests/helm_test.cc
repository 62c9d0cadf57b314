// The Helm chart: it renders the same objects as the folders of manifests/, refuses values that
// cannot work, and what it installs can be upgraded, rolled back and removed completely. Needs
// QCM_HELM and KUBEBUILDER_ASSETS.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <stdexcept>

#include "pkg/admission/stored_configuration.h"
#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::helm_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kChart = QCM_SOURCE_DIR "/manifests/helm/quota-controller-manager";

ProgramResult Helm(Words arguments) {
  const char* helm = std::getenv("QCM_HELM");
  if (helm == nullptr || *helm == '\0') throw std::runtime_error("the tests need QCM_HELM");
  arguments.insert(arguments.begin(), helm);
  return RunProgram({.argv = std::move(arguments)}, Stretched(60s));
}

std::string MustHelm(Words arguments) {
  auto result = Helm(std::move(arguments));
  if (result.exit_code != 0) throw std::runtime_error("helm:\n" + result.output);
  return std::move(result.output);
}

Words Template(const std::string& ns, const std::string& values) {
  Words arguments{"template", "quotas", kChart, "--namespace=" + ns};
  if (!values.empty()) arguments.push_back("--set=" + values);
  return arguments;
}

// Before the first document helm mentions the links in the chart's folder.
std::string WithoutRemarks(const std::string& output) {
  std::string text;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("walk.go:")) text.append(line).append("\n");
  }
  return text;
}

using Objects = std::map<std::string, json::Value>;

Objects ByName(const std::vector<json::Value>& documents) {
  Objects objects;
  for (const json::Value& document : documents) {
    std::string name(document.StringAt({"kind"}));
    for (const std::string_view part :
         {document.StringAt({"metadata", "namespace"}), document.StringAt({"metadata", "name"})}) {
      name.append(" ").append(part);
    }
    INFO(name);
    CHECK(objects.emplace(name, document).second);
  }
  return objects;
}

std::set<std::string> Names(const Objects& objects) {
  std::set<std::string> names;
  for (const auto& [name, object] : objects) names.insert(name);
  return names;
}

Objects OfFolders(const Words& folders) {
  std::vector<json::Value> all;
  for (const std::string& folder : folders) {
    for (json::Value& object : RenderManifests(folder)) all.push_back(std::move(object));
  }
  return ByName(all);
}

bool IsHook(const json::Value& object) {
  return object.At({"metadata", "annotations", "helm.sh/hook"}) != nullptr;
}

// Without hooks, which are not part of the installation.
Objects OfChart(const std::string& values) {
  auto documents =
      config::ParseYamlDocuments(WithoutRemarks(MustHelm(Template(kQuotaSystem, values))));
  if (!documents) throw std::runtime_error(documents.error().message);
  std::erase_if(*documents, IsHook);
  return ByName(*documents);
}

struct Same {
  Words folders;
  std::string values;
};

const std::vector<Same> kSame{
    {{"base"}, "namespace.create=true"},
    {{"base", "monitoring"}, "namespace.create=true,monitoring.enabled=true"},
    {{"core-enforced"}, "namespace.create=true,enforce={core}"},
    {{"core-enforced-client-ca"},
     "namespace.create=true,enforce={core},clientCA=quota-controller-manager-client-ca"},
    {{"cert-manager"}, "namespace.create=true,enforce={core},certificate=cert-manager"},
    {{"ironcore"},
     "namespace.create=true,ironcore=true,quotaApis={core,ironcore},enforce={ironcore}"},
    {{"karmada"}, "install=karmada-api-server"},
    {{"karmada-host"},
     "namespace.create=true,quotaApis={karmada},enforce={karmada},certificate=cert-manager,"
     "kubeconfigSecret=quota-controller-manager-kubeconfig"}};

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
  for (const json::Value& argument :
       *pod.At({"containers"})->AsArray()->at(0).At({"args"})->AsArray()) {
    program.argv.push_back(*argument.AsString());
  }
  const auto result = RunProgram(program, Stretched(30s));
  INFO(result.output);
  CHECK(result.exit_code == 0);
  installation.api().MergePatch(path + "/status", Json(R"({"status":{
      "startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":1,
      "conditions":[{"type":"SuccessCriteriaMet","status":"True"},
                    {"type":"Complete","status":"True"}]}})"));
}

}  // namespace

TEST_CASE("the chart renders the objects of every folder of manifests/", "[helm]") {
  std::set<std::string> covered{"dashboard"};  // part of "monitoring"
  for (const Same& same : kSame) {
    INFO(same.values);
    covered.insert(same.folders.begin(), same.folders.end());
    const Objects folders = OfFolders(same.folders);
    const Objects chart = OfChart(same.values);
    CHECK(Names(chart) == Names(folders));
    for (const auto& [name, object] : folders) {
      const auto found = chart.find(name);
      if (found == chart.end() || found->second == object) continue;
      FAIL_CHECK(name << "\nkustomize: " << json::Write(object)
                      << "\nhelm:      " << json::Write(found->second));
    }
  }
  const Words folders = ManifestFolders();
  CHECK(covered == std::set<std::string>(folders.begin(), folders.end()));
}

TEST_CASE("the chart names no namespace but the one it is told", "[helm]") {
  for (const Same& same : kSame) {
    if (same.folders.front() == "karmada") continue;
    INFO(same.values);
    CHECK(MustHelm(Template("elsewhere", same.values)).find(kQuotaSystem) == std::string::npos);
  }
}

TEST_CASE("roles, policies and flags can be left away", "[helm]") {
  const Objects objects = OfChart(
      "rbac.countAny=false,rbac.countSecrets=false,networkPolicy.enabled=false,flowSchema=false,"
      "priorityClassName=,replicas=1");
  for (const auto& [name, object] : objects) {
    CHECK(name.find("count-") == std::string::npos);
    CHECK_FALSE(name.starts_with("NetworkPolicy"));
    CHECK_FALSE(name.starts_with("FlowSchema"));
    CHECK_FALSE(name.starts_with("Namespace"));
    if (name.starts_with("Deployment")) {
      CHECK(object.At({"spec", "template", "spec", "priorityClassName"}) == nullptr);
    }
  }
}

TEST_CASE("values that cannot work are refused, and named", "[helm]") {
  const auto refusal = [](const std::string& values) {
    const auto result = Helm(Template(kQuotaSystem, values));
    return result.exit_code == 0 ? "accepted" : result.output;
  };
  CHECK_THAT(refusal("enforce={nodes}"), Catch::Contains("/enforce/0"));
  CHECK_THAT(refusal("replicas=-1"), Catch::Contains("/replicas"));
  CHECK_THAT(refusal("resyncPeriod=soon"), Catch::Contains("/resyncPeriod"));
  CHECK_THAT(refusal("replicaCount=3"), Catch::Contains("replicaCount"));
  CHECK_THAT(refusal("certificate=letsencrypt"), Catch::Contains("/certificate"));
  CHECK_THAT(refusal("extraArgs={v=1}"), Catch::Contains("/extraArgs/0"));
  // Each replica would create its own certificate.
  CHECK_THAT(refusal("enforce={karmada},kubeconfigSecret=k"), Catch::Contains("/certificate"));
  CHECK_THAT(refusal("enforce={ironcore}"), Catch::Contains("/ironcore"));
}

TEST_CASE("what helm installs is kept by the daemon through upgrade and rollback, and goes with it",
          "[helm]") {
  Installation installation;
  const auto helm = [&](Words arguments) {
    arguments.push_back("--kubeconfig=" + installation.server().Kubeconfig());
    arguments.push_back(std::string("--namespace=") + kQuotaSystem);
    return MustHelm(std::move(arguments));
  };
  helm({"install", "quotas", kChart, "--create-namespace", "--set=enforce={core}"});
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

  helm({"upgrade", "quotas", kChart, "--set=enforce={core},replicas=3,monitoring.enabled=true"});
  CHECK(kept() == before);
  helm({"rollback", "quotas", "1"});
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

TEST_CASE("turned off by a rollback, enforcement leaves nobody shut out", "[helm]") {
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
      return admission::AsksNobody(installation.api().Get(ConfigurationPath())) ? "none" : "";
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
