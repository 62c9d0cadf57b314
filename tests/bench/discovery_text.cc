#include "tests/bench/discovery_text.h"

namespace bench {

std::string DiscoveryText(const Kinds& kinds) {
  std::string resources;
  for (const auto& [resource, kind] : kinds) {
    if (!resources.empty()) resources += ',';
    resources.append(R"({"resource":")")
        .append(resource)
        .append(R"(","responseKind":{"group":"","version":"v1","kind":")")
        .append(kind)
        .append(R"("},"scope":"Namespaced","verbs":["list","watch","patch"]})");
  }
  const std::string group = R"({"metadata":{"name":""},"versions":[{"version":"v1",)"
                            R"("freshness":"Current","resources":[)" +
                            resources + "]}]}";
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
         R"("items":[)" +
         (kinds.empty() ? "" : group) + "]}";
}

std::string DiscoveryOfClusterQuotas() {
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
         R"("items":[{"metadata":{"name":"quota-controller-manager.io"},"versions":[{"version":)"
         R"("v1alpha1","freshness":"Current","resources":[{"resource":"clusterquotas",)"
         R"("responseKind":{"group":"quota-controller-manager.io","version":"v1alpha1","kind":)"
         R"("ClusterQuota"},"scope":"Cluster","verbs":["list","watch","patch"],"subresources":)"
         R"([{"subresource":"status","responseKind":{"group":"quota-controller-manager.io",)"
         R"("version":"v1alpha1","kind":"ClusterQuota"},"verbs":["get","patch","update"]}]}]}]}]})";
}

}  // namespace bench
