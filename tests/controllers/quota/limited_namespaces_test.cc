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

// Admission decides, so the tracker counts the namespaces.
controllers::QuotaControllerOptions WithAdmission() {
  controllers::QuotaControllerOptions options;
  options.guarded = [](const quota::Evaluator&, const api::ObjectKey& quota) {
    return quota.ns == "team-a";
  };
  return options;
}

}  // namespace

TEST_CASE("limited namespaces: a namespace is included while it has a quota", "[controllers]") {
  ControllerFixture f(WithAdmission());
  const auto in = [&](const api::GroupResource& resource) {
    f.RunFor(1s);
    return f.controller->tracker().limits().NamespacesOf(resource);
  };
  CHECK(in(kOfPods).empty());
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}, {"secrets", "3"}}, "a"));
  f.cluster.Put(kQuotas, MakeQuota("r", {{"pods", "3"}}, "a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}, "b"));
  CHECK(in(kOfPods) == controllers::LimitedNamespaces{{"a", 2}, {"b", 1}});
  f.cluster.Delete(kQuotas, "a", "r");
  f.cluster.Delete(kQuotas, "b", "q");
  CHECK(in(kOfPods) == controllers::LimitedNamespaces{{"a", 1}});
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "3"}}, "a"));
  CHECK(in(kOfPods).empty());
  CHECK(in(kOfSecrets).size() == 1);
}

TEST_CASE("limited namespaces: names that classes may own include the namespaces of claims",
          "[controllers]") {
  ControllerFixture f(WithAdmission());
  const auto in = [&](const api::GroupResource& resource) {
    return f.controller->tracker().limits().NamespacesOf(resource).size();
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
