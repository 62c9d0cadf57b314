#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_test {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

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

}  // namespace check_test
