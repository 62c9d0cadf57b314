#include "cmd/quota-controller-manager/flags.h"

#include <gflags/gflags.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pkg/base/text.h"
#include "tests/source_dir.h"

namespace flags_test {
namespace {

using Arguments = std::vector<std::string>;
using Names = std::vector<std::string>;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const std::string kService = "--admission-service=quota-system/webhook:443";

// Resets the flags to their defaults at its end.
base::Result<manager::Options> Parse(Arguments arguments) {
  const gflags::FlagSaver saved;
  arguments.insert(arguments.begin(), "quota-controller-manager");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return manager::ParseFlags(static_cast<int>(argv.size()), argv.data());
}

manager::Options Good(const Arguments& arguments) {
  auto options = Parse(arguments);
  INFO((options ? "" : options.error().message));
  REQUIRE(options.has_value());
  return *std::move(options);
}

std::string Refusal(const Arguments& arguments) {
  const auto options = Parse(arguments);
  REQUIRE_FALSE(options.has_value());
  CHECK(options.error().Is(base::ErrorCode::kInvalidArgument));
  return options.error().message;
}

}  // namespace

TEST_CASE("flags: by default all quota APIs are counted and none is enforced", "[manager]") {
  const manager::Options options = Good({});
  CHECK(options.quota_apis == Names{"core", "cluster", "karmada", "ironcore"});
  CHECK(options.enforced.empty());
  CHECK_FALSE(options.admission);
  CHECK(options.metrics->port == 8080);
  CHECK(options.metrics_secure);
  CHECK(options.health->port == 8081);
  CHECK(options.protobuf);
  CHECK(options.resync_period == std::chrono::minutes(5));
  CHECK(options.leader_election.elect);
}

TEST_CASE("flags: default enforcement needs an address that the API server can reach",
          "[manager]") {
  SECTION("no address: quotas are only counted, and that is reported") {
    CHECK(Good({}).unreachable == Names{"defined", "cluster", "karmada"});
  }
  SECTION("an address") {
    const manager::Options options = Good({kService});
    CHECK(options.enforced == Names{"defined", "cluster", "karmada"});
    CHECK(options.unreachable.empty());
    CHECK(options.admission->port == 9443);
    CHECK(options.admission_service->ns == "quota-system");
  }
}

TEST_CASE("flags: explicit enforcement without an address is an error", "[manager]") {
  CHECK_THAT(Refusal({"--enforce=core"}), StartsWith("flag --enforce: "));
  CHECK(Good({"--enforce=core", "--admission-url=https://127.0.0.1:9443"}).enforced ==
        Names{"core"});
  SECTION("an admin who manages the webhook provides the certificate") {
    CHECK_THAT(Refusal({"--enforce=core", "--manage-webhook=false"}),
               StartsWith("flag --manage-webhook: "));
    const Arguments managed{"--enforce=core", "--manage-webhook=false",
                            "--admission-cert-dir=/certificates"};
    CHECK(Good(managed).enforced == Names{"core"});
  }
  SECTION("nothing is enforced, so no address is needed") {
    CHECK(Good({"--enforce="}).enforced.empty());
    CHECK(Good({"--enforce="}).unreachable.empty());
  }
}

TEST_CASE("flags: only quota APIs that are counted can be enforced", "[manager]") {
  const std::string refusal = Refusal({"--quota-apis=core", "--enforce=core,karmada", kService});
  CHECK_THAT(refusal, StartsWith("flag --enforce: ") && Contains("--quota-apis"));
  CHECK(Good({"--quota-apis=core,karmada", "--enforce=karmada", kService}).enforced ==
        Names{"karmada"});
  SECTION("the default is reduced to those that are counted") {
    CHECK_FALSE(Good({"--quota-apis=ironcore", kService}).admission);
    CHECK(Good({"--quota-apis=cluster,ironcore", kService}).enforced == Names{"cluster"});
  }
  SECTION("parts of ResourceQuotas are counted with them") {
    CHECK(Good({"--quota-apis=core,cluster", kService}).enforced == Names{"defined", "cluster"});
    CHECK(Good({"--quota-apis=core", "--enforce=defined", kService}).enforced == Names{"defined"});
    CHECK_THAT(Refusal({"--quota-apis=cluster", "--enforce=defined", kService}),
               StartsWith("flag --enforce: names \"defined\""));
    CHECK_THAT(Refusal({"--quota-apis=core,defined"}),
               StartsWith("flag --quota-apis: unknown quota API \"defined\""));
  }
  SECTION("an explicit default is not reduced") {
    CHECK_THAT(Refusal({"--quota-apis=core", "--enforce=cluster,karmada", kService}),
               StartsWith("flag --enforce: "));
  }
}

TEST_CASE("flags: nothing can be enforced without an address for admission", "[manager]") {
  CHECK_THAT(Refusal({"--enforce=core", "--admission-bind-address=", kService}),
             StartsWith("flag --enforce: ") && Contains("--admission-bind-address"));
  for (const Arguments& arguments :
       {Arguments{"--admission-bind-address=", kService},
        Arguments{"--enforce=", "--admission-bind-address=", kService}}) {
    const manager::Options options = Good(arguments);
    CHECK(options.enforced.empty());
    CHECK_FALSE(options.admission);
  }
}

TEST_CASE("flags: quota APIs keep their order, each once", "[manager]") {
  CHECK(Good({"--quota-apis=ironcore,core,ironcore"}).quota_apis == Names{"ironcore", "core"});
}

TEST_CASE("flags: metrics are secure unless only this machine can read them", "[manager]") {
  struct Case {
    Arguments arguments;
    bool secure;
  };
  const std::vector<Case> cases{
      {{"--metrics-bind-address=:8080"}, true},
      {{"--metrics-bind-address=10.0.0.1:8080"}, true},
      {{"--metrics-bind-address=127.0.0.1:8080"}, false},
      {{"--metrics-bind-address=localhost:8080"}, false},
      {{"--metrics-bind-address=[::1]:8080"}, false},
      {{"--metrics-bind-address=127.0.0.1:8080", "--metrics-secure"}, true},
      {{"--metrics-bind-address=:8080", "--metrics-secure=false"}, false},
      {{"--metrics-bind-address="}, false}};
  for (const Case& c : cases) {
    INFO(c.arguments.front());
    CHECK(Good(c.arguments).metrics_secure == c.secure);
  }
}

TEST_CASE("flags: exempt namespaces replace the default ones", "[manager]") {
  const Names usual = Good({}).exempt_namespaces;
  for (const char* ns :
       {"kube-system", "kube-public", "kube-node-lease", "calico-system", "tigera-operator",
        "cilium", "cert-manager", "longhorn-system", "argocd", "flux-system"}) {
    CHECK(base::IsOneOf(ns, usual));
  }
  // The chart shows them.
  std::ifstream file(
      tests::SourcePath("/manifests/helm/quota-controller-manager/templates/_helpers.tpl"));
  const std::string helpers{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(helpers, Contains("\n" + base::Join(usual, ",\n") + "\n"));
  CHECK(Good({"--exempt-namespaces=a,b-1"}).exempt_namespaces == Names{"a", "b-1"});
  CHECK(Good({"--exempt-namespaces="}).exempt_namespaces.empty());
}

TEST_CASE("flags: exempt labels are one requirement", "[manager]") {
  const auto labels = [](const std::string& selector) {
    return Good({"--exempt-namespace-selector=" + selector}).exempt_labels;
  };
  using Operator = api::LabelOperator;
  CHECK_FALSE(Good({}).exempt_labels);
  CHECK(labels("tier=system") == api::LabelRequirement{"tier", Operator::kIn, {"system"}});
  CHECK(labels("x.io/tier in (a,b)") ==
        api::LabelRequirement{"x.io/tier", Operator::kIn, {"a", "b"}});
  CHECK(labels("exempt") == api::LabelRequirement{"exempt", Operator::kExists, {}});
  CHECK(labels("!tenant") == api::LabelRequirement{"tenant", Operator::kDoesNotExist, {}});
  CHECK(labels("tier!=user") == api::LabelRequirement{"tier", Operator::kNotIn, {"user"}});
  CHECK(Good({"--exempt-namespace-selector=tier=a"}).exempt_selector == "tier=a");
  const auto refusal = [](const std::string& selector) {
    return Refusal({"--exempt-namespace-selector=" + selector});
  };
  CHECK_THAT(refusal("a=b,c=d"), Contains("must have one requirement"));
  CHECK_THAT(refusal("a>5"), Contains("must use ="));
  CHECK_THAT(refusal("kubernetes.io/metadata.name=x"), Contains("--exempt-namespaces does that"));
  CHECK_THAT(refusal("a b"), Contains("exempt-namespace-selector"));
}

TEST_CASE("flags: names may be as long as the API server allows", "[manager]") {
  const std::string label(63, 'a');
  CHECK(Good({"--exempt-namespaces=" + label}).exempt_namespaces == Names{label});
  CHECK_THAT(Refusal({"--exempt-namespaces=" + label + "a"}), Contains("not a valid namespace"));
  const std::string dotted = "a." + std::string(251, 'b');
  CHECK(Good({"--leader-elect-resource-name=" + dotted}).leader_election.resource_name == dotted);
  CHECK_THAT(Refusal({"--leader-elect-resource-name=" + dotted + "b"}), Contains("Lease name"));
}

TEST_CASE("flags: the error for a wrong value names the flag", "[manager]") {
  const std::vector<Arguments> refused{{"--quota-apis="},
                                       {"--quota-apis=core,moon"},
                                       {"--enforce=moon"},
                                       {"--resync-period=soon"},
                                       {"--resync-period=-1s"},
                                       {"--kube-api-content-type=text/plain"},
                                       {"--metrics-bind-address=8080"},
                                       {"--max-quota-series=-1"},
                                       {"--health-probe-bind-address=:70000"},
                                       {"--admission-bind-address=nowhere"},
                                       {"--admission-failure-policy=fail"},
                                       {"--admission-timeout=1500ms"},
                                       {"--admission-timeout=0s"},
                                       {"--admission-timeout=31s"},
                                       {"--exempt-namespaces=a,-b"},
                                       {"--exempt-namespaces=a.b"},
                                       {"--exempt-namespaces=A"},
                                       {"--admission-queue-limit=0"},
                                       {"--admission-client-ca=/no/such/file"},
                                       {"--admission-service=webhook"},
                                       {"--admission-url=http://127.0.0.1:9443"},
                                       {"--admission-url=https://127.0.0.1:9443", kService},
                                       {"--break-glass", "--uninstall"},
                                       {"--break-glass-for=-5m"},
                                       {"--break-glass-for=soon"},
                                       {"--leader-elect-resource-name=a_b"},
                                       {"--leader-elect-resource-namespace=a.b"},
                                       {"--leader-elect-lease-duration=500ms"},
                                       {"--leader-elect-lease-duration=25h"},
                                       {"--leader-elect-lease-duration=10s"},
                                       {"--leader-elect-renew-deadline=2400ms"},
                                       {"--leader-elect-renew-deadline=-1s"},
                                       {"--leader-elect-retry-period=0s"}};
  for (const Arguments& arguments : refused) {
    const std::string& flag = arguments.front();
    INFO(flag);
    CHECK_THAT(Refusal(arguments), StartsWith("flag " + flag.substr(0, flag.find('=')) + ": "));
  }
}

TEST_CASE("flags: the times of a lease leave room for a retry", "[manager]") {
  const manager::LeaderElection election =
      Good({"--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=4s",
            "--leader-elect-retry-period=1s"})
          .leader_election;
  CHECK(election.lease_duration == std::chrono::seconds(5));
  CHECK(election.renew_deadline == std::chrono::seconds(4));
  CHECK(election.retry_period == std::chrono::seconds(1));
}

TEST_CASE("flags: an argument that is not a flag is refused", "[manager]") {
  CHECK(Refusal({"start"}) == "unexpected argument \"start\"");
}

}  // namespace flags_test
