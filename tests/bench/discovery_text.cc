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

}  // namespace bench
