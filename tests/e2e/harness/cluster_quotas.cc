#include "tests/e2e/harness/cluster_quotas.h"

#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"

namespace e2e {
namespace {

constexpr const char* kCollection = "/apis/quota-controller-manager.io/v1alpha1/clusterquotas";
constexpr const char* kDefinition = "clusterquotas.quota-controller-manager.io";

}  // namespace

ClusterQuotas::ClusterQuotas(Api& api) : api_(api) {
  const auto definition =
      config::ParseYaml(ReadFile(QCM_SOURCE_DIR "/manifests/crds/clusterquota-crd.yaml"));
  if (!definition) throw std::runtime_error(definition.error().message);
  api_.Create(PathOf("customresourcedefinitions"), *definition);
  Eventually("ClusterQuotas are served", [&]() -> std::string {
    const auto answer = api_.Do({.path = kCollection});
    return answer ? "" : answer.error().message;
  });
}

ClusterQuotas::~ClusterQuotas() {
  const std::string path = PathOf("customresourcedefinitions", "", kDefinition);
  (void)api_.Do({.verb = "DELETE", .path = path, .timeout = Stretched(10s)});
  // Its objects go first.
  (void)PollUntil([&] { return !api_.Exists(path); }, Stretched(10s));
}

std::string ClusterQuotas::Path(const std::string& name) {
  return kCollection + (name.empty() ? "" : "/" + name);
}

json::Value ClusterQuotas::Quota(const std::string& name, const json::Value& spec) {
  return json::Object{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                      {"kind", "ClusterQuota"},
                      {"metadata", json::Object{{"name", name}}},
                      {"spec", spec}};
}

void ClusterQuotas::WaitUsed(const std::string& name, const Quantities& used) {
  Eventually("cluster quota " + name + " uses " + ToText(used), [&]() -> std::string {
    const json::Value quota = Get(name);
    const auto seen = ToQuantities(quota.At({"status", "used"}));
    const auto hard = ToQuantities(quota.At({"status", "hard"}));
    if (seen == used && hard == ToQuantities(quota.At({"spec", "hard"}))) return "";
    return json::Write(quota);
  });
}

void ClusterQuotas::WaitStatus(const std::string& name, const json::Value& members) {
  Eventually("the status of cluster quota " + name + " has " + json::Write(members),
             [&]() -> std::string {
               const json::Value quota = Get(name);
               for (const auto& [member, value] : *members.AsObject()) {
                 const json::Value* found = quota.At({"status", member});
                 if (found == nullptr || *found != value) return json::Write(quota);
               }
               return "";
             });
}

}  // namespace e2e
