#include "tests/simulation/discovery.h"

#include <map>
#include <string>
#include <utility>

namespace simulation {
namespace {

std::string DescribeResource(const char* resource, const char* kind,
                             const char* scope = "Namespaced") {
  std::string text = R"({"resource":")";
  text.append(resource).append(R"(","responseKind":{"group":"","version":"","kind":")");
  text.append(kind).append(R"("},"scope":")").append(scope).append(R"(","singularResource":")");
  text.append(resource);
  return text.append(R"(","verbs":["create","delete","get","list","patch","update","watch"]})");
}

std::string DescribeGroup(const char* name, const char* version, const std::string& resources) {
  std::string text = R"({"metadata":{"name":")";
  text.append(name).append(R"("},"versions":[{"version":")").append(version);
  text.append(R"(","freshness":"Current","resources":[)").append(resources);
  return text.append("]}]}");
}

std::string DescribeGroups(const std::string& groups) {
  std::string text =
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
      R"("items":[)";
  return text.append(groups).append("]}");
}

std::string DescribeCore(bool namespaces) {
  std::string text = DescribeResource("resourcequotas", "ResourceQuota") + ",";
  if (namespaces) text += DescribeResource("namespaces", "Namespace", "Cluster") + ",";
  text += DescribeResource("persistentvolumeclaims", "PersistentVolumeClaim") + ",";
  return DescribeGroup("", "v1", text.append(DescribeResource("secrets", "Secret")));
}

std::string DescribeIroncore() {
  std::string machines = DescribeResource("machines", "Machine") + ",";
  machines += DescribeResource("machineclasses", "MachineClass", "Cluster");
  std::string groups = DescribeGroup("core.ironcore.dev", "v1alpha1",
                                     DescribeResource("resourcequotas", "ResourceQuota"));
  return groups.append(",").append(DescribeGroup("compute.ironcore.dev", "v1alpha1", machines));
}

// The groups under /api.
std::string DescribeLegacy(Api api) {
  return api == Api::kIroncore ? "" : DescribeCore(HasTree(api));
}

// The groups under /apis.
std::string DescribeNamed(Api api) {
  if (api == Api::kCore) return "";
  if (api == Api::kIroncore) return DescribeIroncore();
  return DescribeGroup("quota-controller-manager.io", "v1alpha1",
                       DescribeResource("clusterquotas", "ClusterQuota", "Cluster"));
}

}  // namespace

client::ApiResponse Discover(bool legacy, Api api) {
  static const auto bodies = [] {
    std::map<std::pair<bool, Api>, std::string> all;
    for (const Api one : {Api::kCore, Api::kIroncore, Api::kCluster, Api::kJoint}) {
      all[{true, one}] = DescribeGroups(DescribeLegacy(one));
      all[{false, one}] = DescribeGroups(DescribeNamed(one));
    }
    return all;
  }();
  client::ApiResponse response{.status = 200, .headers = {}, .body = bodies.at({legacy, api})};
  response.headers.Set("Content-Type",
                       "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  return response;
}

}  // namespace simulation
