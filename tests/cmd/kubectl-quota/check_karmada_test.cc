// `check` counts bindings against the quotas of Karmada: those in the files, and those that Karmada
// makes of what a policy selects.

#include <catch2/catch.hpp>

#include "pkg/quota/karmada/karmada_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_karmada_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kBindings{"work.karmada.io", "v1alpha2", "resourcebindings"};
const api::GroupVersionResource kPolicies{"policy.karmada.io", "v1alpha1", "propagationpolicies"};
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};

std::string Quota(const std::string& hard, const std::string& more = "") {
  return "{apiVersion: policy.karmada.io/v1alpha1, kind: KarmadaQuota, metadata: {name: all, "
         "namespace: shop}, spec: {hard: " +
         hard + more + "}}";
}

std::string Binding(const std::string& spec) {
  return "{apiVersion: work.karmada.io/v1alpha2, kind: ResourceBinding, metadata: {name: "
         "web-deployment, namespace: shop}, spec: {resource: {apiVersion: apps/v1, kind: "
         "Deployment, name: web}, " +
         spec + "}}";
}

std::string Deployment(const std::string& replicas, const std::string& more = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, labels: "
         "{tier: front}}, spec: {replicas: " +
         replicas +
         ", selector: {matchLabels: {a: w}}, template: {metadata: {labels: {a: w}}, spec: "
         "{initContainers: [{name: i, image: i, resources: {requests: {cpu: 700m}}}], containers: "
         "[{name: c, image: c, resources: {requests: {cpu: 300m}, limits: {memory: 1Gi}}}, {name: "
         "d, image: d, resources: {requests: {cpu: 200m}}}]" +
         more + "}}}}";
}

std::string Policy(const std::string& selector, const std::string& placement,
                   const std::string& more = "") {
  return "{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {name: p, "
         "namespace: shop}, spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment" +
         selector + "}], placement: " + placement + more + "}}";
}

constexpr const char* kDivided = "{replicaScheduling: {replicaSchedulingType: Divided}}";

std::string Documents(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += one + "\n---\n";
  return text;
}

class Federation : public Plugin {
 public:
  Told Offline(const std::vector<std::string>& files, const std::string& quotas) {
    return Ask({"check", "-n", "shop", "-f", File("files.yaml", Documents(files)), "--quota-file",
                File("quotas.yaml", quotas)});
  }
  void Serve() {
    const quota::QuotaApi api = quota::KarmadaQuotaApi();
    cluster.Serve(api.resource, api.kind);
    cluster.Serve(kBindings, "ResourceBinding");
    cluster.Serve(kPolicies, "PropagationPolicy");
  }
  void Limit(const std::string& hard, const std::string& used) {
    Put(quota::KarmadaQuotaApi().resource,
        "{apiVersion: policy.karmada.io/v1alpha1, kind: KarmadaQuota, metadata: {name: all, "
        "namespace: shop}, spec: {hard: " +
            hard + "}, status: {hard: " + hard + ", used: " + used + "}}");
  }
  Told Live(const std::vector<std::string>& files) {
    return Ask({"check", "-n", "shop", "-f", File("files.yaml", Documents(files))});
  }
};

}  // namespace

TEST_CASE("check: a binding counts as the daemon counts it", "[kubectl-quota][karmada]") {
  Federation karmada;
  const std::string binding = Binding(
      "replicas: 3, replicaRequirements: {resourceRequest: {cpu: 500m}}, clusters: "
      "[{name: m1, replicas: 3}, {name: m2, replicas: 3}]");
  const auto told =
      karmada.Offline({binding}, Quota("{cpu: 2, pods: 9, count/deployments.apps: 1}"));
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("karmadaquota.policy.karmada.io/all   cpu                      0        3   "
                      "    3       2       no, lacks 1\n"));
  CHECK_THAT(told.output,
             Contains("pods                     0        6       6       9       yes"));
  CHECK_THAT(told.output,
             Contains("count/deployments.apps   0        1       1       1       yes"));
  SECTION("also beside its template") {
    const auto both = karmada.Offline({binding, Deployment("9"), Policy("", kDivided)},
                                      Quota("{pods: 9, count/deployments.apps: 1}"));
    CHECK(both.code == 0);
  }
  SECTION("of a kind whose plural is in no file") {
    const auto other = karmada.Offline(
        {"{apiVersion: work.karmada.io/v1alpha2, kind: ResourceBinding, metadata: {name: b, "
         "namespace: shop}, spec: {resource: {apiVersion: x.io/v1, kind: PodChaos, name: b}}}"},
        Quota("{count/podchaos.x.io: 0}"));
    CHECK(other.code == 1);
    CHECK_THAT(other.output, Contains("count/podchaos.x.io"));
  }
}

TEST_CASE("check and who: bindings of kinds that discovery lacks are unknown",
          "[kubectl-quota][karmada]") {
  Federation karmada;
  karmada.Serve();
  karmada.cluster.Serve({"metrics.k8s.io", "v1", "nodes"}, "NodeMetrics", false);
  const std::string binding = Binding("replicas: 3");
  karmada.Limit("{count/deployments.apps: 1}", "{count/deployments.apps: 1}");
  CHECK(karmada.Live({binding}).code == 1);
  karmada.cluster.SetStale("metrics.k8s.io", true);
  CHECK(karmada.Live({binding}).code == 1);
  karmada.cluster.SetStale("apps", true);
  const auto told = karmada.Live({binding});
  INFO(told.output << told.warnings);
  CHECK(told.code == 3);
  const std::string why =
      "usage that depends on the kinds of metrics.k8s.io/v1, apps/v1 is left out: they cannot be "
      "seen at the moment";
  CHECK_THAT(told.output, Contains("resourcebinding.work.karmada.io/web-deployment: " + why));
  karmada.Put(kBindings, binding);
  CHECK_THAT(karmada.Ask({"who", "karmadaquota/all"}).warnings, Contains("Warning: " + why));
  karmada.cluster.SetStale("apps", false);
  CHECK(karmada.Ask({"who", "karmadaquota/all"}).warnings.empty());
}

TEST_CASE("check: what a policy selects counts as its binding will", "[kubectl-quota][karmada]") {
  Federation karmada;
  const auto asks = [&](const std::vector<std::string>& files, const std::string& words) {
    const auto told = karmada.Offline(files, Quota("{cpu: 100, memory: 100Gi, pods: 100}"));
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    CHECK_THAT(told.output, Contains(words));
  };
  // The init container needs most, and a missing request is the limit.
  asks({Deployment("3"), Policy("", kDivided)}, "cpu        0        2100m   2100m   100     yes");
  asks({Deployment("3"), Policy("", kDivided)}, "memory     0        3Gi     3Gi     100Gi   yes");
  asks({Deployment("3"), Policy(", name: web", kDivided)}, "pods       0        3 ");
  asks({Deployment("3"), Policy(", labelSelector: {matchLabels: {tier: front}}", kDivided)},
       "pods       0        3 ");
  // A copy in each cluster.
  asks({Deployment("3"), Policy("", "{clusterAffinity: {clusterNames: [m1, m2]}}")},
       "pods       0        6 ");
  asks({"{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: shop}, spec: "
        "{parallelism: 5, completions: 2, template: {spec: {containers: [{name: c}]}}}}",
        "{apiVersion: policy.karmada.io/v1alpha1, kind: ClusterPropagationPolicy, metadata: {name: "
        "p}, spec: {resourceSelectors: [{apiVersion: batch/v1, kind: Job}], placement: " +
            std::string(kDivided) + "}}"},
       "pods       0        2 ");
}

TEST_CASE("check: a binding that cannot be foreseen is unknown", "[kubectl-quota][karmada]") {
  Federation karmada;
  const auto unknown = [&](const std::vector<std::string>& files, const std::string& words,
                           const std::string& more = "") {
    const auto told = karmada.Offline(files, Quota("{pods: 100}", more));
    INFO(told.output << told.warnings);
    CHECK(told.code == 3);
    CHECK_THAT(told.output, Contains("Cannot tell: ") && Contains(words));
  };
  unknown({Deployment("3")}, "deployment.apps/web: no propagation policy selects it");
  unknown({Deployment("3"), Policy(", name: other", kDivided)}, "no propagation policy selects it");
  unknown({Deployment("3"), Policy(", labelSelector: {matchLabels: {tier: back}}", kDivided)},
          "no propagation policy selects it");
  unknown({Deployment("3"), Policy("", "{}")}, "policy p makes one in each member cluster");
  unknown({Deployment("3"), Policy("", kDivided),
           "{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, "
           "metadata: {name: r}, spec: {target: {apiVersion: apps/v1, kind: Deployment}}}"},
          "a custom resource interpreter decides what its binding needs");
  unknown({Deployment("3", ", priorityClassName: high"), Policy("", kDivided)},
          "ResourceQuotaEstimate",
          ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}");
  // Nothing that a quota of Karmada counts is made of it.
  const auto map =
      karmada.Offline({"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"},
                      Quota("{pods: 100}"));
  CHECK(map.code == 0);
}

TEST_CASE("check: a stored template counts by the change of its binding",
          "[kubectl-quota][karmada]") {
  Federation karmada;
  karmada.Serve();
  karmada.Limit("{cpu: 4, pods: 20}", "{cpu: 2100m, pods: 3}");
  karmada.Put(kPolicies, Policy("", kDivided));
  karmada.Put(kDeployments, Deployment("3"));
  karmada.Put(kBindings, Binding("replicas: 3, replicaRequirements: {resourceRequest: {cpu: 700m, "
                                 "memory: 1Gi}}, clusters: [{name: m1, replicas: 3}]"));
  CHECK(karmada.Live({Deployment("3")}).output == "Yes: no quota limits any of it.\n");
  const auto told = karmada.Live({Deployment("6")});
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("cpu        2100m    2100m   4200m   4       no, lacks 200m"));
  CHECK_THAT(told.output, Contains("pods       3        3       6       20      yes"));
  SECTION("also if policies may not be listed") {
    karmada.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("propagationpolicies") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    const auto unseen = karmada.Live({Deployment("6")});
    CHECK(unseen.code == 3);
    CHECK_THAT(unseen.output, Contains("without propagationpolicies of the cluster"));
  }
}

TEST_CASE("why: on Karmada's control plane a template lacks its binding",
          "[kubectl-quota][karmada]") {
  Federation karmada;
  karmada.Serve();
  karmada.Limit("{cpu: 4, pods: 20}", "{cpu: 3, pods: 5}");
  karmada.Put(kDeployments, Deployment("3"));
  // Without a policy nothing is made of it.
  const auto none = karmada.Ask({"why", "deployment/web"});
  CHECK_THAT(none.warnings, Contains("no propagation policy selects it"));
  karmada.Put(kPolicies, Policy("", kDivided));
  const auto told = karmada.Ask({"why", "deployment/web"});
  INFO(told.warnings);
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("deployment.apps/web wants 1 binding and has 0: each needs "
                                   "cpu=2100m pods=3\n"));
  CHECK_THAT(told.output, Contains("lacks 1100m") && Contains("← refuses"));
  CHECK_THAT(told.output,
             Contains("room: raise cpu of quota karmadaquota.policy.karmada.io/all to 5100m"));
  karmada.Put(kBindings, Binding("replicas: 1, replicaRequirements: {resourceRequest: {cpu: 700m, "
                                 "memory: 1Gi}}"));
  const auto more = karmada.Ask({"why", "deployment/web"});
  CHECK_THAT(more.output,
             Contains("wants 1 larger binding and has 0: each needs cpu=1400m pods=2"));
  karmada.Put(kDeployments, Deployment("1"));
  const auto enough = karmada.Ask({"why", "deployment/web"});
  CHECK(enough.code == 0);
  CHECK_THAT(enough.output, Contains("wants 1 binding and has 1: no quota limits what they need\n"
                                     "it has what it wants\n"));
  const auto bound = karmada.Ask({"why", "resourcebinding/web-deployment"});
  CHECK(bound.output ==
        "resourcebinding.work.karmada.io/web-deployment is stored, so no quota refuses it\n");
  SECTION("a placement can be refused") {
    std::string refused = Binding("replicas: 1");
    refused.insert(refused.size() - 1,
                   ", status: {conditions: [{type: Scheduled, status: 'False', reason: "
                   "QuotaExceeded, message: 'exceeded quota: all'}]}");
    karmada.Put(kBindings, refused);
    const auto held = karmada.Ask({"why", "resourcebinding/web-deployment"});
    CHECK(held.code == 1);
    CHECK_THAT(held.output, Contains("a quota refuses to place it: exceeded quota: all"));
  }
}

}  // namespace check_karmada_test
