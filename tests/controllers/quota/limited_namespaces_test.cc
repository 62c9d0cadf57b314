#include "controllers/quota/limited_namespaces.h"

#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace limited_namespaces_test {
namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kQuotas;
using fixture::MakeQuota;

const api::GroupResource kOfPods{"", "pods"};
const api::GroupResource kOfSecrets{"", "secrets"};
const api::GroupResource kOfClaims{"resource.k8s.io", "resourceclaims"};

}  // namespace

TEST_CASE("limited namespaces: a namespace is included while it has a quota", "[controllers]") {
  controllers::LimitedNamespaces limited;
  CHECK(limited.Of(kOfPods).empty());
  limited.Add(kOfPods, "a");
  limited.Add(kOfPods, "a");
  limited.Add(kOfPods, "b");
  limited.Add(kOfSecrets, "a");
  CHECK(limited.Of(kOfPods) == controllers::LimitedNamespaces::Counts{{"a", 2}, {"b", 1}});
  limited.Remove(kOfPods, "a");
  limited.Remove(kOfPods, "b");
  CHECK(limited.Of(kOfPods) == controllers::LimitedNamespaces::Counts{{"a", 1}});
  limited.Remove(kOfPods, "a");
  CHECK(limited.Of(kOfPods).empty());
  CHECK(limited.Of(kOfSecrets).size() == 1);
}

TEST_CASE("limited namespaces: names that classes may own include the namespaces of claims",
          "[controllers]") {
  controllers::QuotaControllerOptions options;
  options.guarded = [](const quota::Evaluator&, std::string_view ns) { return ns == "team-a"; };
  ControllerFixture f(options);
  const auto in = [&](const api::GroupResource& resource) {
    return f.controller->tracker().NamespacesOf(resource).size();
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}, {"requests.nvidia.com/gpu", "1"}}));
  f.cluster.Put(kQuotas, MakeQuota("r", {{"pods", "3"}}));
  f.RunFor(1s);
  CHECK(in(kOfPods) == 1);
  CHECK(in(kOfClaims) == 1);
  CHECK(in(kOfSecrets) == 0);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "3"}}));
  f.RunFor(1s);
  CHECK(in(kOfPods) == 1);
  CHECK(in(kOfClaims) == 0);
  CHECK(in(kOfSecrets) == 1);
  f.cluster.Delete(kQuotas, "team-a", "r");
  f.RunFor(1s);
  CHECK(in(kOfPods) == 0);
}

}  // namespace limited_namespaces_test
