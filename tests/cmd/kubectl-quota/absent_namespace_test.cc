// Commands for a namespace that does not exist, or in which nothing is.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace absent_namespace_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kClusterQuotas{"quota-controller-manager.io", "v1alpha1",
                                               "clusterquotas"};

using Arguments = std::vector<std::string>;

Arguments In(const std::string& ns, Arguments arguments) {
  arguments.insert(arguments.end(), {"-n", ns});
  return arguments;
}

}  // namespace

TEST_CASE("each command says that a namespace does not exist", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.Put(kClusterQuotas,
             "{apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: "
             "{name: team}, spec: {namespaceSelector: {matchLabels: {team: a}}, hard: {pods: 1}}}");
  const Arguments command =
      GENERATE(Arguments{"top"}, Arguments{"top", "-o", "json"}, Arguments{"who", "q"},
               Arguments{"who", "clusterquota/team"}, Arguments{"why", "deployment/web"},
               Arguments{"tree"}, Arguments{"suggest"}, Arguments{"report", "-o", "html"});
  INFO(command.front());
  const Told told = plugin.Ask(In("shpo", command));
  CHECK(told.code == 2);
  CHECK(told.output.empty());
  CHECK(told.warnings ==
        "Error from server (NotFound): namespaces \"shpo\" not found; did you mean \"shop\"?\n");
  SECTION("which is not known to users who may not read it") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("/namespaces/shpo") == std::string::npos) return std::nullopt;
      if (!request.path.ends_with("/shpo")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK_THAT(plugin.Ask(In("shpo", command)).warnings, !Contains("namespaces \"shpo\""));
    plugin.cluster.ForgetFunctions();
  }
  SECTION("without a proposal for those who may not list the others") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/namespaces")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK(plugin.Ask(In("shpo", command)).warnings ==
          "Error from server (NotFound): namespaces \"shpo\" not found\n");
    plugin.cluster.ForgetFunctions();
  }
}

TEST_CASE("check refuses what is in a namespace that does not exist", "[kubectl-quota]") {
  Plugin plugin;
  const std::string file = plugin.File("m.yaml",
                                       "{apiVersion: v1, kind: ConfigMap, metadata: "
                                       "{name: m}}");
  const Told told = plugin.Ask(In("shpo", {"check", "-f", file}));
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("configmap/m: namespaces \"shpo\" not found\n"));
}

TEST_CASE("tree and a ClusterQuota do not need the namespace of the context", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  plugin.Put(kClusterQuotas,
             "{apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota, metadata: "
             "{name: team}, spec: {namespaceSelector: {matchLabels: {team: a}}, hard: {pods: 1}}}");
  plugin.cluster.Delete(kNamespaces, "", "shop");
  CHECK(plugin.Ask({"tree"}).code == 0);
  CHECK(plugin.Ask({"who", "clusterquota/team"}).code == 0);
  CHECK(plugin.Ask({"top"}).code == 2);
}

TEST_CASE("suggest says that nothing is used, instead of a quota without limits",
          "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.Ask({"suggest"});
  CHECK(told.code == 2);
  CHECK(told.output.empty());
  CHECK(told.warnings ==
        "error: nothing is used in namespace shop, so there is no quota to suggest\n");
}

}  // namespace absent_namespace_test
