#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace kubectl_import_test {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

namespace {

const api::GroupVersionResource kTenants{"capsule.clastix.io", "v1beta2", "tenants"};

constexpr const char* kAcme =
    "{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {name: acme}, spec: "
    "{resourceQuotas: {items: [{hard: {pods: 5}}]}}}";
constexpr const char* kGlobex =
    "{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {name: globex}, spec: "
    "{namespaceOptions: {quota: 3}}}";

}  // namespace

TEST_CASE("import: files are translated without a cluster", "[kubectl-quota]") {
  Plugin plugin;
  const auto told = plugin.Ask({"import", "-f", plugin.File("tenants.yaml", kAcme)});
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("kind: ClusterQuota") && Contains("enforcement: Audit"));
  CHECK_THAT(told.warnings,
             Contains("FROM ") && Contains("tenants.yaml: tenant.capsule.clastix.io/acme") &&
                 Contains("1 ClusterQuota of 1 object; everything has a counterpart.\n"));
  CHECK(plugin.cluster.lists == 0);
}

TEST_CASE("import: what has no counterpart makes the exit code 1", "[kubectl-quota]") {
  Plugin plugin;
  const auto told =
      plugin.Ask({"import", "--no-headers", "--enforcement", "Warn", "-f",
                  plugin.File("a.yaml", kAcme), "-f", plugin.File("b.yaml", kGlobex)});
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("enforcement: Warn") && !Contains("globex"));
  CHECK_THAT(told.warnings, !Contains("FROM ") && Contains("namespaces are not counted") &&
                                Contains("b.yaml: tenant.capsule.clastix.io/globex") &&
                                Contains("1 part has no counterpart"));
}

TEST_CASE("import: without -f the served kinds are read, of any version", "[kubectl-quota]") {
  Plugin plugin;
  const auto none = plugin.Ask({"import"});
  CHECK(none.code == 2);
  CHECK(none.output.empty());
  CHECK_THAT(none.warnings,
             Contains("the server serves none of tenants.capsule.clastix.io, ") &&
                 Contains("projects.management.cattle.io; -f reads them from files"));
  plugin.cluster.Serve(kTenants, "Tenant", false);
  plugin.Put(kTenants, kAcme);
  const auto told = plugin.Ask({"import"});
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("# tenant.capsule.clastix.io/acme, spec.resourceQuotas"));
  CHECK_THAT(told.warnings, Contains("1 ClusterQuota of 1 object"));
}

TEST_CASE("import: what may not be listed is an error, not an empty answer", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kTenants, "Tenant", false);
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("/tenants") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden,
                       .message = "GET 403 Forbidden: tenants is forbidden",
                       .http_status = 403,
                       .reason = "Forbidden"};
  };
  const auto told = plugin.Ask({"import"});
  plugin.cluster.ForgetFunctions();
  CHECK(told.code == 2);
  CHECK(told.output.empty());
  CHECK_THAT(told.warnings, Contains("Error from server (Forbidden): tenants is forbidden"));
}

TEST_CASE("import: wrong calls are refused", "[kubectl-quota]") {
  Plugin plugin;
  CHECK_FALSE(plugin.TryAsk({"import", "-n", "shop"}));
  CHECK_FALSE(plugin.TryAsk({"import", "-R"}));
  CHECK_FALSE(plugin.TryAsk({"import", "-f", "x", "-l", "a=b"}));
  CHECK_FALSE(plugin.TryAsk({"import", "--enforcement", "Never", "-f", "x"}));
  CHECK_FALSE(plugin.TryAsk({"import", "-o", "json"}));
  CHECK(plugin.Ask({"import", "-f", "/nowhere"}).code == 2);
}

}  // namespace kubectl_import_test
