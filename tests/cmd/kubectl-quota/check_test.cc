#include <catch2/catch.hpp>

#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_test {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kClusterQuotas = quota::ClusterQuotaApi().resource;
const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates"};

// A quota of the namespace "shop".
std::string Quota(const std::string& hard, const std::string& used = "{}") {
  return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: "
         "{hard: " +
         hard + "}\nstatus: {hard: " + hard + ", used: " + used + "}\n";
}

// A ResourceClaimTemplate "gpu" for two devices.
constexpr const char* kTemplate =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
    "metadata: {name: gpu, namespace: shop}\nspec: {spec: {devices: {requests: [{name: r, exactly: "
    "{deviceClassName: big, count: 2}}]}}}\n";

constexpr const char* kWithClaims =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"
    "spec: {replicas: 3, template: {spec: {containers: [{name: c}], "
    "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]}}}\n";

constexpr const char* kClaimQuota =
    "{count/resourceclaims.resource.k8s.io: 4, big.deviceclass.resource.k8s.io/devices: 5}";
constexpr const char* kClaimLines =
    "q       big.deviceclass.resource.k8s.io/devices   0        6       6       5       no, "
    "lacks 1\n"
    "q       count/resourceclaims.resource.k8s.io      0        3       3       4       yes\n";

TEST_CASE("check: claims of ResourceClaimTemplates in the files are counted", "[kubectl-quota]") {
  Plugin plugin;
  const auto quota = plugin.File("quota.yaml", Quota(kClaimQuota));
  const auto both = plugin.File("both.yaml", std::string(kWithClaims) + kTemplate);
  const auto told = plugin.Ask({"check", "-f", both, "--quota-file", quota});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains(kClaimLines));
}

TEST_CASE("check: a ResourceClaimTemplate that is missing is an error if claims are limited",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto web = plugin.File("web.yaml", kWithClaims);
  const auto ask = [&](const char* hard) {
    return plugin.Ask({"check", "-f", web, "--quota-file", plugin.File("quota.yaml", Quota(hard))});
  };
  const auto told = ask(kClaimQuota);
  CHECK(told.code == 2);
  CHECK_THAT(told.warnings,
             Contains("web.yaml: deployment.apps/web: there is no ResourceClaimTemplate \"gpu\""));
  CHECK(ask("{pods: 3}").code == 0);
}

TEST_CASE("check: ResourceClaimTemplates of the cluster are read if claims are limited",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kTemplates, "ResourceClaimTemplate");
  const auto web = plugin.File("web.yaml", kWithClaims);
  plugin.Put(kQuotas, Quota(kClaimQuota,
                            "{count/resourceclaims.resource.k8s.io: 0, "
                            "big.deviceclass.resource.k8s.io/devices: 0}"));
  const auto missing = plugin.Ask({"check", "-f", web});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.warnings, Contains("there is no ResourceClaimTemplate \"gpu\""));
  plugin.Put(kTemplates, kTemplate);
  const auto told = plugin.Ask({"check", "-f", web});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains(kClaimLines));
  SECTION("only then") {
    plugin.Put(kQuotas, Quota("{pods: 3}", "{pods: 0}"));
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("resourceclaimtemplates") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    const auto pods = plugin.Ask({"check", "-f", web});
    CHECK(pods.code == 0);
    CHECK(pods.warnings.empty());
  }
}

// The namespace "shop" of a team.
std::string Shop(const std::string& team) {
  return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: " + team +
         "}}\n";
}

// A ClusterQuota for one pod in all namespaces of a team.
std::string ClusterQuotaOf(const std::string& team) {
  return "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: ClusterQuota\n"
         "metadata: {name: team-" +
         team + "}\nspec: {namespaceSelector: {matchLabels: {team: " + team +
         "}}, hard: {pods: 1}}\nstatus: {hard: {pods: 1}, used: {pods: 0}}\n";
}

constexpr const char* kTwoPods =
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: shop}\n"
    "spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}\n";

constexpr const char* kTeamARefuses =
    "clusterquota/team-a   pods       0        2       2       1       no, lacks 1\n"
    "exceeded cluster quota: team-a, requested: pods=2, used: pods=0, limited: pods=1\n"
    "No: 1 of 1 limit would be exceeded.\n";

TEST_CASE("check: labels of a Namespace in the files decide which ClusterQuotas limit it",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.Put(kClusterQuotas, ClusterQuotaOf("a"));
  plugin.Put(kClusterQuotas, ClusterQuotaOf("b"));
  const auto files = plugin.File("shop.yaml", Shop("a") + kTwoPods);
  SECTION("of a namespace that does not exist yet") {
    plugin.cluster.Delete(kNamespaces, "", "shop");
    const auto told = plugin.Ask({"check", "-f", files});
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains(kTeamARefuses) && !Contains("team-b"));
    CHECK(told.warnings.empty());
  }
  SECTION("of a namespace that moves to another team") {
    plugin.Put(kNamespaces, Shop("b"));
    const auto told = plugin.Ask({"check", "-f", files});
    CHECK_THAT(told.output, Contains(kTeamARefuses) && !Contains("team-b"));
    CHECK(told.warnings ==
          "Warning: cluster quota team-a: what namespace shop already uses is not counted: its "
          "labels in the files bring it under this quota\n");
  }
  SECTION("a label that the manifest omits stays") {
    plugin.Put(kNamespaces, Shop("a"));
    const auto plain =
        plugin.File("plain.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n" +
                                      std::string(kTwoPods));
    const auto told = plugin.Ask({"check", "-f", plain});
    CHECK_THAT(told.output, Contains(kTeamARefuses));
    CHECK(told.warnings.empty());
  }
  SECTION("without a cluster, in the checked files") {
    const auto quotas = plugin.File("quotas.yaml", ClusterQuotaOf("a") + ClusterQuotaOf("b"));
    const auto told = plugin.Ask({"check", "-f", files, "--quota-file", quotas});
    CHECK(told.warnings.empty());
    CHECK_THAT(told.output, Contains(kTeamARefuses) && !Contains("team-b"));
  }
  SECTION("without a cluster, over those of a Namespace beside the quotas") {
    const auto quotas = plugin.File("quotas.yaml", ClusterQuotaOf("a") + Shop("a"));
    const auto plain =
        plugin.File("plain.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n" +
                                      std::string(kTwoPods));
    const auto told = plugin.Ask({"check", "-f", plain, "--quota-file", quotas});
    CHECK_THAT(told.output, Contains(kTeamARefuses));
  }
}

TEST_CASE("check: labels in the files do not matter to a user who may not list ClusterQuotas",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("clusterquotas") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  const auto told = plugin.Ask({"check", "-f", plugin.File("shop.yaml", Shop("a") + kTwoPods)});
  CHECK(told.code == 3);
  CHECK_THAT(told.warnings, Contains("the labels of namespace shop in the files are left out"));
}

constexpr const char* kOnePod =
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";

TEST_CASE("check: nothing fits into a namespace that does not exist", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve({"rbac.authorization.k8s.io", "v1", "clusterroles"}, "ClusterRole", false);
  plugin.cluster.Delete(kNamespaces, "", "shop");
  const std::string pods = plugin.File("pods.yaml", std::string(kOnePod) + kTwoPods);
  const auto told = plugin.Ask({"check", "-f", pods});
  CHECK(told.code == 1);
  CHECK(told.output ==
        "pod/p: namespaces \"shop\" not found\n"
        "replicaset.apps/web: namespaces \"shop\" not found\n"
        "No: 2 objects or their pods would be refused whatever is free.\n");
  CHECK_THAT(plugin.Ask({"check", "-f", pods, "-o", "json"}).output,
             Contains("\"fits\": false") && Contains("namespaces \\\"shop\\\" not found"));
  CHECK_THAT(plugin.Ask({"check", "-f", pods, "-o", "junit"}).output,
             Contains("namespaces &quot;shop&quot; not found"));
  CHECK(plugin.Ask({"check", "-f", pods, "--replace"}).code == 1);
  SECTION("but what is in no namespace does") {
    const std::string role = plugin.File(
        "role.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}");
    CHECK(plugin.Ask({"check", "-f", role}).code == 0);
  }
  SECTION("unless the files have it") {
    const std::string both = plugin.File("both.yaml", kOnePod + Shop("a"));
    CHECK(plugin.Ask({"check", "-f", both}).code == 0);
  }
  SECTION("each namespace of the files counts") {
    const std::string both = plugin.File("both.yaml", Shop("a") + kTwoPods +
                                                          "---\napiVersion: v1\nkind: Pod\n"
                                                          "metadata: {name: q, namespace: typo}\n"
                                                          "spec: {containers: [{name: c}]}\n");
    const auto one = plugin.Ask({"check", "-f", both});
    CHECK(one.code == 1);
    CHECK_THAT(one.output, Contains("pod/q: namespaces \"typo\" not found\nNo: 1 object"));
  }
  SECTION("a user who may not read it cannot know") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/namespaces/shop")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK(plugin.Ask({"check", "-f", pods}).code == 3);
  }
}

TEST_CASE("check: nothing new fits into a namespace that is being terminated", "[kubectl-quota]") {
  Plugin plugin;
  plugin.Put(kNamespaces,
             "{apiVersion: v1, kind: Namespace, metadata: {name: shop}, status: {phase: "
             "Terminating}}");
  plugin.cluster.Serve({"", "v1", "pods"}, "Pod");
  const std::string pod = plugin.File("pod.yaml", kOnePod + Shop("a"));
  const auto told = plugin.Ask({"check", "-f", pod});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("pod/p: unable to create new content in namespace shop because "
                                   "it is being terminated\nNo: 1 object"));
  plugin.Put({"", "v1", "pods"},
             "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: "
             "[{name: c}]}}");
  CHECK(plugin.Ask({"check", "-f", pod}).code == 0);
}

}  // namespace check_test
