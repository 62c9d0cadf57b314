// HorizontalPodAutoscalers, in the files and in the cluster, decide how many pods there will be.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_autoscaling_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kScalers{"autoscaling", "v2", "horizontalpodautoscalers"};
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};

constexpr const char* kQuota =
    "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
    "{pods: 4}}, status: {hard: {pods: 4}, used: {pods: 1}}}";

std::string Workload(const std::string& kind, const std::string& replicas) {
  return "---\n{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: web, namespace: shop}, " +
         "spec: {" + replicas + "template: {spec: {containers: [{name: c}]}}}}\n";
}

std::string Scaler(const std::string& kind, const std::string& least,
                   const std::string& version = "v2", const std::string& target = "apps/v1") {
  return "---\n{apiVersion: autoscaling/" + version +
         ", kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: shop}, spec: "
         "{scaleTargetRef: {apiVersion: " +
         target + ", kind: " + kind + ", name: web}, " + least + "maxReplicas: 20}}\n";
}

class Scaled : public Plugin {
 public:
  Scaled() {
    cluster.Serve(kDeployments, "Deployment");
    cluster.Serve(kScalers, "HorizontalPodAutoscaler");
    Put(kQuotas, kQuota);
  }
  Told Check(const std::string& files) { return Ask({"check", "-f", File("files.yaml", files)}); }
  Told Offline(const std::string& files) {
    return Ask({"check", "-n", "shop", "-f", File("files.yaml", files), "--quota-file",
                File("quota.yaml", kQuota)});
  }
};

constexpr const char* kSix = "q       pods       1        6       7       4       no, lacks 3\n";
constexpr const char* kSixNote =
    "/web: counted with 6 pods; horizontalpodautoscaler.autoscaling/h may make it 20\n";

}  // namespace

TEST_CASE("check: an autoscaler's minimum counts", "[kubectl-quota]") {
  Scaled plugin;
  const std::string six = "minReplicas: 6, ";
  for (const char* kind : {"Deployment", "StatefulSet", "ReplicaSet"}) {
    for (const char* replicas : {"", "replicas: 2, "}) {
      const std::string web = Workload(kind, replicas);
      for (const std::string& files : {web + Scaler(kind, six), Scaler(kind, six, "v1") + web}) {
        for (const Told& told : {plugin.Check(files), plugin.Offline(files)}) {
          INFO(told.output << told.warnings);
          CHECK(told.code == 1);
          CHECK_THAT(told.output, Contains(kSix) && Contains(kSixNote));
        }
      }
    }
  }
}

TEST_CASE("check: an autoscaler does not change what is above its minimum, or 0",
          "[kubectl-quota]") {
  Scaled plugin;
  struct Row {
    const char* replicas;
    const char* least;
    const char* target;
    const char* asked;
  };
  const Row row =
      GENERATE(Row{"replicas: 3, ", "minReplicas: 2, ", "apps/v1", "1        3       4"},
               Row{"replicas: 2, ", "", "apps/v1", "1        2       3"},
               Row{"", "", "apps/v1", "1        1       2"},
               // Of another group: kube-controller-manager does not find it.
               Row{"replicas: 2, ", "minReplicas: 3, ", "other.io/v1", "1        2       3"});
  const std::string files =
      Workload("Deployment", row.replicas) + Scaler("Deployment", row.least, "v2", row.target);
  for (const Told& told : {plugin.Check(files), plugin.Offline(files)}) {
    INFO(told.output);
    CHECK(told.code == (row.target == std::string("apps/v1") ? 0 : 3));
    CHECK_THAT(told.output, Contains(std::string("q       pods       ") + row.asked));
  }
  const std::string none =
      Workload("Deployment", "replicas: 0, ") + Scaler("Deployment", "minReplicas: 6, ");
  for (const Told& told : {plugin.Check(none), plugin.Offline(none)}) CHECK(told.code == 0);
}

TEST_CASE("check: an autoscaler of the cluster scales a workload of the files", "[kubectl-quota]") {
  Scaled plugin;
  plugin.Put(kScalers, Scaler("Deployment", "minReplicas: 6, ").substr(4));
  const std::string web = Workload("Deployment", "replicas: 1, ");
  const auto told = plugin.Check(web);
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains(kSix) && Contains(kSixNote));
  SECTION("unless the files change it") {
    CHECK(plugin.Check(web + Scaler("Deployment", "minReplicas: 2, ")).code == 0);
  }
}

TEST_CASE("check: autoscalers that may not be listed are reported where quotas limit",
          "[kubectl-quota]") {
  Scaled plugin;
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("autoscalers") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  const std::string web = Workload("Deployment", "");
  CHECK_THAT(plugin.Check(web).warnings,
             Contains("counted without the HorizontalPodAutoscalers of the cluster"));
  plugin.cluster.Delete(kQuotas, "shop", "q");
  CHECK(plugin.Check(web).warnings.empty());
}

TEST_CASE("check: an autoscaler of the files scales a workload of the cluster", "[kubectl-quota]") {
  Scaled plugin;
  plugin.Put(kDeployments,
             "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, "
             "spec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}, status: "
             "{replicas: 1}}");
  const auto told = plugin.Check(Scaler("Deployment", "minReplicas: 6, "));
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("q       pods       1        5       6       4       no, lacks 2\n"));
  CHECK(plugin.Check(Scaler("Deployment", "minReplicas: 3, ")).code == 0);
  SECTION("whose pods are not counted if it is not there") {
    const auto none = plugin.Check(Scaler("StatefulSet", "minReplicas: 6, "));
    CHECK_THAT(none.output, Contains("the pods of statefulset.apps/web are not counted"));
    CHECK_THAT(plugin.Offline(Scaler("Deployment", "minReplicas: 6, ")).output,
               Contains("note: horizontalpodautoscaler.autoscaling/h: the pods of "
                        "deployment.apps/web are not counted, because it is in no file\n"));
  }
}

}  // namespace check_autoscaling_test
