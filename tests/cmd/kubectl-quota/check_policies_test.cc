// Quotas, LimitRanges and classes among the checked files hold for the other objects there.

#include <catch2/catch.hpp>

#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_policies_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kClusterQuotas = quota::ClusterQuotaApi().resource;

std::string Document(const std::string& head, const std::string& rest) {
  return "---\n{" + head + rest + "}\n";
}

std::string Quota(const std::string& name, const std::string& hard) {
  return Document(
      "apiVersion: v1, kind: ResourceQuota, metadata: {name: " + name + ", namespace: shop}, ",
      "spec: {hard: " + hard + "}");
}

std::string Pods(int replicas, const std::string& spec = "containers: [{name: c}]") {
  return Document(
      "apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop}, ",
      "spec: {replicas: " + std::to_string(replicas) + ", template: {spec: {" + spec + "}}}");
}

std::string Pod(const std::string& name, const std::string& spec = "containers: [{name: c}]") {
  return Document("apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: shop}, ",
                  "spec: {" + spec + "}");
}

const std::string kNamespace =
    Document("apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a}}", "");
const std::string kDefaults = Document(
    "apiVersion: v1, kind: LimitRange, metadata: {name: d, namespace: shop}, ",
    "spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}, default: {cpu: 200m}}]}");
const std::string kTeam = Document(
    "apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: {name: t}, ",
    "spec: {namespaceSelector: {matchLabels: {team: a}}, hard: {pods: 2}}");
// A quota that holds for nothing here.
const std::string kElsewhere =
    Document("apiVersion: v1, kind: ResourceQuota, metadata: {name: e, namespace: elsewhere}, ",
             "spec: {hard: {pods: 9}}");

// Checks the files with the cluster, and without one beside these quotas.
std::vector<Told> Ways(Plugin& plugin, const std::string& files,
                       const std::string& quotas = kElsewhere) {
  const std::string path = plugin.File("files.yaml", files);
  return {plugin.Ask({"check", "-n", "shop", "-f", path}),
          plugin.Ask({"check", "-n", "shop", "-f", path, "--quota-file",
                      plugin.File("quotas.yaml", quotas)})};
}

}  // namespace

TEST_CASE("check: a ResourceQuota in the files limits the other objects", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kPods, "Pod");
  const bool first = GENERATE(true, false);
  const std::string quota = Quota("q", "{pods: 1}");
  for (const Told& told : Ways(plugin, first ? quota + Pods(5) : Pods(5) + quota)) {
    INFO(told.output << told.warnings);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("q       pods       0        5       5       1       no, "
                                     "lacks 4\n"));
  }
  const auto told_1 = Ways(plugin, quota + Pods(1));
  for (const Told& told : told_1) CHECK(told.code == 0);
}

TEST_CASE("check: a changed ResourceQuota in the files replaces the stored one",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kPods, "Pod");
  const std::string stored =
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
      "{pods: 9, secrets: 1}}, status: {hard: {pods: 9, secrets: 1}, used: {pods: 3, secrets: "
      "0}}}";
  plugin.Put(kQuotas, stored);
  for (const Told& told : Ways(plugin, Quota("q", "{pods: 4}") + Pods(2), stored)) {
    INFO(told.output << told.warnings);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("q       pods       3        2       5       4       no, "
                                     "lacks 1\n"));
  }
  SECTION("a limit that nobody takes away stays") {
    const std::string secrets =
        Document("apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}", "") +
        Document("apiVersion: v1, kind: Secret, metadata: {name: r, namespace: shop}", "");
    const auto told =
        plugin.Ask({"check", "-f", plugin.File("more.yaml", Quota("q", "{pods: 4}") + secrets)});
    CHECK_THAT(told.output, Contains("no, lacks 1") && Contains("secrets"));
  }
}

TEST_CASE("check: what a namespace uses counts under a new ResourceQuota", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kPods, "Pod");
  for (const char* name : {"a", "b"}) {
    plugin.Put(kPods, "{apiVersion: v1, kind: Pod, metadata: {name: " + std::string(name) +
                          ", namespace: shop}, spec: {containers: [{name: c}]}}");
  }
  const std::string files = plugin.File("files.yaml", Quota("q", "{pods: 3}") + Pods(2));
  const auto told = plugin.Ask({"check", "-f", files});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("q       pods       2        2       4       3       no, "));
  SECTION("if it may be seen") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/pods")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    const auto blind = plugin.Ask({"check", "-f", files});
    CHECK_THAT(blind.output, Contains("q       pods       -        2       2       3       not "
                                      "counted yet\n"));
    CHECK_THAT(blind.warnings, Contains("Warning: shown without pods: "));
  }
}

TEST_CASE("check: a LimitRange in the files fills in what pods after it leave out",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string quota = Quota("q", "{requests.cpu: 2}");
  const std::vector<std::string> orders{quota + kDefaults + Pods(2), quota + Pods(2) + kDefaults,
                                        quota + kDefaults + Pod("p") + Pod("r")};
  for (const std::string& files : orders) {
    for (const Told& told : Ways(plugin, files)) {
      INFO(files << told.output << told.warnings);
      CHECK(told.code == 0);
      CHECK_THAT(told.output, Contains("200m"));
    }
  }
  // The server admits a pod before it knows a LimitRange behind it.
  const auto told_2 = Ways(plugin, quota + Pod("p") + kDefaults);
  for (const Told& told : told_2) {
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("pod/p: failed quota: q: must specify requests.cpu"));
  }
}

TEST_CASE("check: a LimitRange in the files replaces the stored one", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kLimitRanges, "LimitRange");
  plugin.Put(kLimitRanges,
             "{apiVersion: v1, kind: LimitRange, metadata: {name: d, namespace: shop}, spec: "
             "{limits: [{type: Container, defaultRequest: {cpu: 5}}]}}");
  const auto told = plugin.Ask(
      {"check", "-f",
       plugin.File("files.yaml", Quota("q", "{requests.cpu: 2}") + kDefaults + Pods(2))});
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("200m"));
}

TEST_CASE("check: classes in the files change what pods and claims need", "[kubectl-quota]") {
  Plugin plugin;
  const std::string runtime =
      Document("apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, ",
               "handler: kata, overhead: {podFixed: {cpu: 1}}");
  const std::string kata = Pod(
      "p", "runtimeClassName: kata, containers: [{name: c, resources: {requests: {cpu: 1500m}}}]");
  const auto told_3 = Ways(plugin, Quota("q", "{requests.cpu: 2}") + runtime + kata);
  for (const Told& told : told_3) {
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("2500m   2500m   2       no, lacks 500m"));
  }
  const std::string priority =
      Document("apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, ",
               "value: 9, globalDefault: true");
  const std::string scoped = Document(
      "apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, ",
      "spec: {hard: {pods: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, "
      "operator: In, values: [high]}]}}");
  const auto told_4 = Ways(plugin, scoped + priority + Pods(2));
  for (const Told& told : told_4) CHECK(told.code == 1);
  const auto told_5 = Ways(plugin, scoped + Pods(2));
  for (const Told& told : told_5) CHECK(told.code == 0);
  const std::string storage = Document(
      "apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gold, annotations: "
      "{storageclass.kubernetes.io/is-default-class: 'true'}}",
      "");
  const std::string claim = Document(
      "apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop}, ",
      "spec: {resources: {requests: {storage: 2Gi}}}");
  const auto told_6 =
      Ways(plugin, Quota("q", "{gold.storageclass.storage.k8s.io/requests.storage: 1Gi}") +
                       storage + claim);
  for (const Told& told : told_6) {
    CHECK(told.code == 1);
  }
}

TEST_CASE("check: pods of a class that does not exist are refused as by the server",
          "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource priorities{"scheduling.k8s.io", "v1", "priorityclasses"};
  const api::GroupVersionResource runtimes{"node.k8s.io", "v1", "runtimeclasses"};
  plugin.cluster.Serve({"apps", "v1", "deployments"}, "Deployment");
  const std::string kata = Pod("p", "runtimeClassName: kata, containers: [{name: c}]");
  const std::string nope = Document(
      "apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, ",
      "spec: {replicas: 2, template: {spec: {priorityClassName: nope, containers: [{name: c}]}}}");
  const auto check = [&](const std::string& files, const std::vector<std::string>& more = {}) {
    std::vector<std::string> call{"check", "-f", plugin.File("files.yaml", files)};
    call.insert(call.end(), more.begin(), more.end());
    return plugin.Ask(call);
  };
  const std::string of_kata = "pod rejected: RuntimeClass \"kata\" not found";
  const std::string of_nope = "no PriorityClass with name nope was found";
  const auto told = check(kata + nope);
  CHECK(told.code == 1);
  CHECK(told.output == "pod/p: " + of_kata + "\ndeployment.apps/web: " + of_nope +
                           "\nNo: 2 objects or their pods would be refused whatever is free.\n");
  CHECK_THAT(check(nope, {"-o", "json"}).output, Contains(of_nope) && Contains("\"fits\": false"));
  CHECK_THAT(check(nope, {"-o", "junit"}).output, Contains("failure message=\"" + of_nope));
  SECTION("not if it is stored or in the files") {
    plugin.Put(runtimes,
               "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}}");
    CHECK(check(kata).code == 0);
    CHECK(check(nope + Document("apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                                "{name: nope}, ",
                                "value: 9"))
              .code == 0);
    for (const char* name : {"system-node-critical", "system-cluster-critical"}) {
      CHECK(check(Pod("p", "priorityClassName: " + std::string(name) + ", containers: [{name: c}]"))
                .code == 0);
    }
  }
  SECTION("not if the classes cannot be seen") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("classes") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK(check(nope).code == 0);
    CHECK(check(kata).code == 3);
    plugin.cluster.ForgetFunctions();
    plugin.cluster.StopServing(priorities);
    plugin.cluster.StopServing(runtimes);
    CHECK(check(nope + kata).code == 0);
  }
  SECTION("not without a cluster") {
    const std::string quota = plugin.File("quota.yaml", Quota("q", "{pods: 9}"));
    CHECK(check(nope + kata, {"--quota-file", quota}).code == 0);
  }
  SECTION("not where no pods are made of templates") {
    plugin.cluster.Serve({"work.karmada.io", "v1alpha2", "resourcebindings"}, "ResourceBinding");
    CHECK(check(nope).code == 0);
  }
  SECTION("why tells it, too") {
    plugin.Put({"apps", "v1", "deployments"}, nope.substr(nope.find('\n') + 1));
    const auto why = plugin.Ask({"why", "deployment/web"});
    CHECK(why.code == 1);
    CHECK_THAT(why.output, Contains(of_nope));
  }
}

TEST_CASE("check and who: objects use what the UsageDefinitions of the cluster say",
          "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource buckets{"example.com", "v1", "buckets"};
  const api::GroupVersionResource definitions{"quota-controller-manager.io", "v1alpha1",
                                              "usagedefinitions"};
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.cluster.Serve(buckets, "Bucket");
  plugin.Put(
      kClusterQuotas,
      "{metadata: {name: team}, spec: {namespaceSelector: {}, hard: {example.com/bytes: 10Gi}}"
      ", status: {hard: {example.com/bytes: 10Gi}, used: {example.com/bytes: 3Gi}}}");
  const auto bucket = [](const std::string& name, const std::string& size) {
    return "{apiVersion: example.com/v1, kind: Bucket, metadata: {name: " + name +
           ", namespace: shop}, spec: {size: " + size + "}}\n";
  };
  plugin.Put(buckets, bucket("images", "3Gi"));
  const auto check = [&](const std::string& size) {
    return plugin.Ask({"check", "-f", plugin.File("bucket.yaml", bucket("logs", size))});
  };
  // Without their CRD there are no definitions, so nothing is counted under such a name.
  CHECK(check("100Gi").code == 0);
  plugin.cluster.Serve(definitions, "UsageDefinition", false);
  plugin.Put(definitions,
             "{metadata: {name: buckets.example.com}, spec: {resource: {group: example.com, "
             "resource: buckets}, usage: [{name: example.com/bytes, path: .spec.size}]}}");
  CHECK(check("7Gi").code == 0);
  const auto refused = check("8Gi");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, Contains("requested: example.com/bytes=8Gi"));
  const auto who = plugin.Ask({"who", "clusterquota/team", "--by", "object"});
  CHECK(who.code == 0);
  CHECK_THAT(who.output, Contains("example.com/bytes") && Contains("images") && Contains("3Gi"));

  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("usagedefinitions") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  CHECK(check("7Gi").code == 3);
  plugin.cluster.ForgetFunctions();
}

TEST_CASE("check: a ClusterQuota in the files limits the namespaces that it selects",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.cluster.Serve(kPods, "Pod");
  const auto told_7 = Ways(plugin, kTeam + kNamespace + Pods(3));
  for (const Told& told : told_7) {
    INFO(told.output << told.warnings);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("clusterquota/t   pods       0        3       3       2"));
  }
  SECTION("with what they use") {
    plugin.Put(kNamespaces,
               "{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {team: a}}}");
    plugin.Put(kPods,
               "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}, spec: "
               "{containers: [{name: c}]}}");
    const auto told =
        plugin.Ask({"check", "-f", plugin.File("files.yaml", kTeam + kNamespace + Pods(2))});
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("clusterquota/t   pods       1        2       3       2"));
  }
}

TEST_CASE("check: a new namespace is born with a ConfigMap and a ServiceAccount",
          "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Delete(kNamespaces, "", "shop");
  const std::string quota = Quota("q", "{configmaps: 1, count/serviceaccounts: 1}");
  const auto map = [](const std::string& name) {
    return Document(
        "apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: shop}", "");
  };
  const auto told_8 = Ways(plugin, kNamespace + quota + map("a"));
  for (const Told& told : told_8) {
    INFO(told.output << told.warnings);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("configmaps              0        2       2       1"));
    CHECK_THAT(told.output, Contains("count/serviceaccounts   0        1       1       1"));
  }
  const auto told_9 = Ways(plugin, kNamespace + quota + map("kube-root-ca.crt"));
  for (const Told& told : told_9) {
    CHECK(told.code == 0);
  }
}

TEST_CASE("check: a ResourceQuota in the files that cannot be read is an error",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto told_10 = Ways(plugin, Quota("q", "{pods: many}") + Pods(1));
  for (const Told& told : told_10) {
    CHECK(told.code == 2);
    CHECK_THAT(told.warnings, Contains("resourcequota/q") && Contains("spec.hard[pods]"));
  }
}

}  // namespace check_policies_test
