// kubectl quota import: an API server takes the ClusterQuotas that it writes, and a daemon counts
// them.
#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::kubectl_quota_import_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kFiles = R"(
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata: {name: acme}
spec:
  resourceQuotas:
    scope: Tenant
    items:
    - hard: {limits.cpu: '8', pods: '2'}
    - hard: {pods: '4'}
      scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}
---
apiVersion: quota.openshift.io/v1
kind: ClusterResourceQuota
metadata: {name: red}
spec:
  selector: {annotations: null, labels: {matchLabels: {team: red}}}
  quota: {hard: {pods: '3', requests.storage: 10Gi, count/deployments.apps: '5'}}
---
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HierarchicalResourceQuota
metadata: {name: all, namespace: org}
spec: {hard: {services.nodeports: '1', pods: '9'}}
---
apiVersion: management.cattle.io/v3
kind: Project
metadata: {name: p-x1, namespace: c-m-1}
spec:
  resourceQuota:
    limit: {limitsCpu: 2000m, servicesNodePorts: '2', requestsStorage: 5Gi, pods: '7'}
)";

}  // namespace

TEST_CASE("kubectl quota import writes ClusterQuotas that a server takes and a daemon counts",
          "[e2e][cluster][kubectl-quota]") {
  PluginScenario p;
  Api& api = p.scenario().api();
  ClusterQuotas quotas(api);
  TeamNamespace red(api, "red");
  const std::string file = p.File("theirs.yaml", kFiles);
  // Only stdout goes into the file.
  const auto table = p.Ask({"import", "--enforcement", "Deny", "-f", file});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, Contains("5 ClusterQuotas of 4 objects; everything has a counterpart."));
  const std::size_t begin = table.output.find("---\n");
  const std::size_t end = table.output.find("FROM ");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const auto documents = config::ParseYamlDocuments(table.output.substr(begin, end - begin));
  REQUIRE(documents.has_value());
  REQUIRE(documents->size() == 5);
  for (const json::Value& quota : *documents) api.Create(ClusterQuotas::Path(), quota);
  p.scenario().StartDaemon(DaemonOptions{.more_flags = {"--quota-apis=cluster"}});
  red.Create("one");
  quotas.WaitUsed("red",
                  {{"pods", "1"}, {"requests.storage", "0"}, {"count/deployments.apps", "0"}});
  for (const char* name : {"acme-0", "acme-1", "org-all", "p-x1"}) {
    quotas.WaitCondition(name, "Ready", "True");
  }
}

}  // namespace e2e::kubectl_quota_import_test
