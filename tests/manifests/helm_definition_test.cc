// The definition of ClusterQuota is one of the chart's templates: helm changes it with an upgrade,
// and never deletes it. Needs QCM_HELM and KUBEBUILDER_ASSETS.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/wait.h"
#include "tests/manifests/helm.h"
#include "tests/source_dir.h"

namespace e2e::helm_definition_test {
namespace {

const std::string kLastRelease =
    tests::SourcePath("/tests/manifests/quota-controller-manager-0.1.0.tgz");
constexpr const char* kNewText = "Limits what all selected namespaces use together.";
constexpr const char* kOldText = "Limits what the namespaces use.";

// A chart of a version between the last release and this one: its definition has another text.
std::string OlderChart(const TempDir& dir) {
  const std::string chart = dir.path() + "/quota-controller-manager";
  std::filesystem::copy(kChart, chart, std::filesystem::copy_options::recursive);
  const std::string path = "quota-controller-manager/files/clusterquota-crd.yaml";
  std::string text = ReadFile(dir.path() + "/" + path);
  text.replace(text.find(kNewText), std::string(kNewText).size(), kOldText);
  dir.Write(path, text);
  return chart;
}

std::string Definition() {
  return PathOf("customresourcedefinitions", "", "clusterquotas.quota-controller-manager.io");
}

std::string TextOf(Api& api) {
  const json::Value definition = api.Get(Definition());
  const json::Value& version = definition.At({"spec", "versions"})->AsArray()->at(0);
  return std::string(version.StringAt({"schema", "openAPIV3Schema", "description"}));
}

}  // namespace

TEST_CASE(
    "helm: upgrades bring the definition of ClusterQuota and change it, and no way back takes "
    "quotas away",
    "[helm]") {
  const TempDir dir;
  const std::string older = OlderChart(dir);
  Installation installation;
  Api& api = installation.api();
  const auto helm = [&](std::vector<std::string> arguments) {
    arguments.push_back("--kubeconfig=" + installation.server().Kubeconfig());
    arguments.push_back(std::string("--namespace=") + kQuotaSystem);
    return MustHelm(std::move(arguments));
  };
  helm({"install", "quotas", kLastRelease, "--create-namespace"});
  CHECK_FALSE(api.Exists(Definition()));

  helm({"upgrade", "quotas", older});
  CHECK(TextOf(api) == kOldText);
  const json::Value quota =
      ClusterQuotas::Quota("all", Json(R"({"hard": {"pods": "5"}, "namespaceSelector": {}})"));
  Eventually("a ClusterQuota is created", [&] {
    const Attempt attempt = ToAttempt(api.Do(PostOf(ClusterQuotas::Path(), quota)));
    return attempt.ok() ? std::string() : attempt.Text();
  });
  const std::string uid(api.Get(ClusterQuotas::Path("all")).StringAt({"metadata", "uid"}));
  Daemon daemon(installation.AsDeployed("base"));
  const auto counted = [&](const std::string& pods) {
    Eventually("it is counted", [&] {
      const json::Value stored = api.Get(ClusterQuotas::Path("all"));
      return stored.StringAt({"status", "used", "pods"}) == pods ? "" : json::Write(stored);
    });
  };
  counted("0");

  helm({"upgrade", "quotas", kChart});
  CHECK(TextOf(api) == kNewText);
  const auto kept = [&] {
    return api.Get(ClusterQuotas::Path("all")).StringAt({"metadata", "uid"}) == uid;
  };
  CHECK(kept());
  helm({"rollback", "quotas", "2"});
  CHECK(TextOf(api) == kOldText);
  CHECK(kept());
  helm({"rollback", "quotas", "1"});
  CHECK(kept());
  helm({"upgrade", "quotas", kChart});
  CHECK(TextOf(api) == kNewText);
  CHECK(kept());
  api.Create(PathOf("pods", "default"), Pod("p"));
  counted("1");
  helm({"uninstall", "quotas", "--no-hooks"});
  CHECK(kept());
  helm({"install", "quotas", kChart});
  CHECK(kept());
  CHECK(daemon.Stop() == 0);
}

}  // namespace e2e::helm_definition_test
