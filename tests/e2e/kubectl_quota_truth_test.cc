// Compares the predictions of `check` with the objects that the real kube-apiserver, with its own
// quota plugin, and kube-controller-manager then create and refuse. QCM_QUOTA_CASES is the number
// of random cases, QCM_QUOTA_SEED selects them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/random_manifests.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/trial.h"

namespace e2e::kubectl_quota_truth_test {
namespace {

int FromEnvironment(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? fallback : std::atoi(text);
}

constexpr const char* kControllers =
    "resourcequota-controller,deployment-controller,replicaset-controller,"
    "replicationcontroller-controller,statefulset-controller,daemonset-controller,job-controller,"
    "horizontal-pod-autoscaler-controller,endpoints-controller,endpointslice-controller,"
    "serviceaccount-controller,root-ca-certificate-publisher-controller";

using Trials = std::vector<Trial>;

// Requires that each prediction comes true and stays true: nothing more is created afterwards.
void MustComeTrue(Api& api, Trials& trials) {
  for (Trial& trial : trials) {
    INFO(trial.Story());
    std::string wrong;
    const auto is_true = [&] {
      MakeReady(api);
      return (wrong = trial.NotTrue()).empty();
    };
    const bool came = PollUntil(is_true, Patience());
    INFO(wrong);
    CHECK(came);
  }
  for (Trial& trial : trials) {
    INFO(trial.Story());
    CHECK(trial.NotTrue() == "");
  }
}

void MakeSurroundings(Api& api, bool default_classes) {
  const auto make = [&](const std::string& path, const std::string& name,
                        const json::Value& object) {
    if (!api.Exists(path + "/" + name)) api.Create(path, object);
  };
  make("/apis/scheduling.k8s.io/v1/priorityclasses", "quota-check-high",
       PriorityClass("quota-check-high", 1000));
  make("/apis/node.k8s.io/v1/runtimeclasses", "quota-check-heavy",
       Json(R"({"metadata": {"name": "quota-check-heavy"}, "handler": "heavy",
                "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}}})"));
  make("/api/v1/nodes", "quota-check-1", Json(R"({"metadata": {"name": "quota-check-1"}})"));
  make("/api/v1/nodes", "quota-check-2", Json(R"({"metadata": {"name": "quota-check-2"},
                "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}})"));
  // The API server adds the taint "not ready" to a new node. DaemonSets would create no pods there.
  api.MergePatch("/api/v1/nodes/quota-check-1", Json(R"({"spec": {"taints": null}})"));
  if (!default_classes) return;
  make("/apis/scheduling.k8s.io/v1/priorityclasses", "quota-check-usual",
       Json(R"({"metadata": {"name": "quota-check-usual"}, "value": 1, "globalDefault": true})"));
  make("/apis/storage.k8s.io/v1/storageclasses", "slow",
       Json(R"({"metadata": {"name": "slow", "annotations":
                {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner":
                "none"})"));
}

// Applies the manifests of all trials. Those that fit ask for nothing afterwards. Returns how many
// fit.
int Step(Api& api, Trials& trials, const std::string& kubeconfig, const TempDir& dir) {
  for (Trial& trial : trials) trial.Check(kubeconfig, dir);
  for (Trial& trial : trials) trial.Apply();
  MustComeTrue(api, trials);
  std::erase_if(trials, [](const Trial& trial) { return !trial.Fits(); });
  return static_cast<int>(trials.size());
}

void MustAskNothing(Trials& trials, const std::string& kubeconfig, const TempDir& dir) {
  for (Trial& trial : trials) {
    const bool nothing = PollUntil(
        [&] {
          trial.Check(kubeconfig, dir);
          return trial.AsksNothing();
        },
        Patience());
    INFO(trial.Story());
    CHECK(nothing);
  }
}

}  // namespace

TEST_CASE("kubectl quota check predicts what is created and refused",
          "[e2e][kubectl-quota][random][controller-manager][real-only]") {
  const auto server = StartServer({.quota_plugin = true});
  TempDir dir;
  Api api(server->Kubeconfig());
  const auto controllers = StartBuiltinController(
      kControllers, server->Kubeconfig(), dir.path() + "/controllers.log",
      {"--horizontal-pod-autoscaler-sync-period=1s", "--root-ca-file=" + server->Fields().ca_path});
  const int cases = FromEnvironment("QCM_QUOTA_CASES", 60);
  const int seed = FromEnvironment("QCM_QUOTA_SEED", 1);
  MakeSurroundings(api, seed % 2 == 0);
  RandomManifests random(static_cast<std::uint64_t>(seed));
  const std::string kubeconfig = server->Kubeconfig();
  int fitting = 0;
  int changed = 0;
  int changes = 0;
  for (int done = 0; done < cases;) {
    Trials trials;
    for (int i = 0; i < 20 && done < cases; ++i, ++done) {
      const std::string ns = "case-" + std::to_string(done);
      trials.emplace_back(api, random.Next(ns), ns);
    }
    for (Trial& trial : trials) trial.MakeRules();
    for (Trial& trial : trials) Eventually("counted", [&] { return trial.Uncounted(); });
    fitting += Step(api, trials, kubeconfig, dir);
    std::erase_if(trials, [&](Trial& trial) { return !trial.Change(random); });
    changes += static_cast<int>(trials.size());
    changed += Step(api, trials, kubeconfig, dir);
    MustAskNothing(trials, kubeconfig, dir);
    std::erase_if(trials, [](Trial& trial) { return !trial.Return(); });
    Step(api, trials, kubeconfig, dir);
  }
  // Both answers must be frequent. Otherwise the test shows nothing.
  CHECK(fitting * 5 > cases);
  CHECK(fitting * 5 < cases * 4);
  CHECK(changed * 5 > changes);
  CHECK(changed < changes);
  WARN(cases << " cases, of which " << fitting << " fit, and " << changed << " of " << changes
             << " changes of these");
}

}  // namespace e2e::kubectl_quota_truth_test
