// Compares what `kubectl quota` tells of claims that controllers create with what the real
// kube-apiserver, with its own quota plugin, and kube-controller-manager do.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/plugin_scenario.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::kubectl_quota_claims_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kControllers =
    "resourcequota-controller,deployment-controller,replicaset-controller,statefulset-controller,"
    "resourceclaim-controller";
constexpr const char* kQuota = "/api/v1/namespaces/default/resourcequotas";
constexpr const char* kSets = "/apis/apps/v1/namespaces/default/statefulsets";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

std::string UsedOf(Api& api, const std::string& name) {
  const json::Value quota = api.Get(std::string(kQuota) + "/q");
  return std::string(quota.StringAt({"status", "used", name}));
}

json::Value Workload(const std::string& kind, const std::string& more,
                     const std::string& pod_more) {
  return Json(R"({"apiVersion": "apps/v1", "kind": ")" + kind +
              R"(", "metadata": {"name": "web"}, "spec": {"replicas": 3, "selector": {"matchLabels":
      {"app": "web"}}, )" +
              more + R"("template": {"metadata": {"labels": {"app": "web"}}, "spec": {)" +
              pod_more + R"("containers": [{"name": "c", "image": "i"}]}}}})");
}

}  // namespace

TEST_CASE("kubectl quota counts the claims that controllers create",
          "[e2e][kubectl-quota][controller-manager][real-only][since-1.34]") {
  const auto server = StartServer({.quota_plugin = true});
  TempDir dir;
  Api api(server->Kubeconfig());
  const auto controllers =
      StartBuiltinController(kControllers, server->Kubeconfig(), dir.path() + "/controllers.log");
  const auto limit = [&](const std::string& hard) {
    api.Create(kQuota, Json(R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name":
        "q"}, "spec": {"hard": )" +
                            hard + "}}"));
  };

  SECTION("of ResourceClaimTemplates") {
    const std::string count = "count/resourceclaims.resource.k8s.io";
    const std::string devices = "big.deviceclass.resource.k8s.io/devices";
    limit(R"({")" + count + R"(": "9", ")" + devices + R"(": "9"})");
    Eventually("counted", [&] { return UsedOf(api, devices) == "0" ? "" : "no"; });
    const auto web = Workload("Deployment", "", R"("resourceClaims": [{"name": "g",
        "resourceClaimTemplateName": "gpu"}], )");
    const auto file = dir.Write("web.json", json::Write(web));
    const auto missing = AskPlugin(server->Kubeconfig(), {"check", "-f", file});
    CHECK(missing.exit_code == 2);
    CHECK_THAT(missing.output, Contains("there is no ResourceClaimTemplate \"gpu\""));
    api.Create("/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates",
               Json(R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu"}, "spec": {"spec": {"devices": {"requests": [{"name": "r",
        "exactly": {"deviceClassName": "big", "count": 2}}]}}}})"));
    const auto told = AskPlugin(server->Kubeconfig(), {"check", "-f", file});
    CHECK(told.exit_code == 0);
    CHECK_THAT(told.output, Contains("0        6       6       9       yes") &&
                                Contains("0        3       3       9       yes"));
    api.Create(kDeployments, web);
    Eventually("the claims are created", [&] {
      const std::string used = UsedOf(api, count) + " " + UsedOf(api, devices);
      return used == "3 6" ? std::string() : used;
    });
  }
  SECTION("of StatefulSets") {
    limit(R"({"requests.storage": "1Gi"})");
    Eventually("counted", [&] { return UsedOf(api, "requests.storage") == "0" ? "" : "no"; });
    api.Create(kSets, Workload("StatefulSet", R"("podManagementPolicy": "Parallel",
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes":
        ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}], )",
                               ""));
    Eventually("why names the storage and the refusal", [&] {
      const auto told = AskPlugin(server->Kubeconfig(), {"why", "sts/web"}).output;
      const bool all =
          told.find("wants 3 pods and has 1: each needs requests.storage=1Gi") !=
              std::string::npos &&
          told.find("requests.storage 1Gi/1Gi, 0 free, lacks 1Gi for the next, 2Gi for all") !=
              std::string::npos &&
          told.find("last refused ") != std::string::npos &&
          told.find("exceeded quota: q") != std::string::npos &&
          told.find("delete") == std::string::npos;
      return all ? std::string() : told;
    });
  }
}

}  // namespace e2e::kubectl_quota_claims_test
