// Usage by kinds that only discovery knows, and usage of objects with several parts. KarmadaQuota's
// evaluator has both.
#include <catch2/catch.hpp>
#include <chrono>

#include "pkg/quota/karmada/karmada_quota.h"
#include "tests/controllers/quota/controller_fixture.h"
#include "tests/pkg/quota/karmada/sample_bindings.h"

namespace kind_classes_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kQuotas;
using fixture::MakeQuota;

const api::GroupVersionResource kBindings{"work.karmada.io", "v1alpha2", "resourcebindings"};
const api::GroupVersionResource kWidgets{"example.com", "v1", "widgets"};
constexpr const char* kCount = "count/widgets.example.com";

struct KindsFixture : ControllerFixture {
  explicit KindsFixture(controllers::QuotaControllerOptions options = {})
      : ControllerFixture(std::move(options)) {
    Stop();
    api = quota::KarmadaQuotaApi();
    api.resource = kQuotas;
    cluster.Serve(kBindings, "ResourceBinding");
    Start();
  }
  void Bind(const std::string& name, const std::string& api_version, const std::string& kind) {
    cluster.Put(
        kBindings,
        json::Object{{"metadata", json::Object{{"name", name}, {"namespace", "team-a"}}},
                     {"spec", json::Object{{"resource", json::Object{{"apiVersion", api_version},
                                                                     {"kind", kind}}}}}});
  }
};

}  // namespace

TEST_CASE("kind classes: a propagated object counts by the resource of its kind", "[controllers]") {
  KindsFixture f;
  f.Bind("a", "apps/v1", "Deployment");
  f.Bind("b", "apps/v1beta1", "Deployment");  // the version in the template does not matter
  f.Bind("c", "v1", "Secret");
  f.Bind("d", "example.com/v1", "Deployment");
  f.cluster.Put(
      kQuotas,
      MakeQuota("q", {{"count/deployments.apps", "9"}, {"count/secrets", "9"}, {"secrets", "9"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/deployments.apps=2,count/secrets=1,secrets=1");
  f.Bind("a", "v1", "Secret");
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/deployments.apps=1,count/secrets=2,secrets=2");
}

TEST_CASE("kind classes: a kind that is not served makes only its own name unknown",
          "[controllers]") {
  KindsFixture f;
  f.Bind("w", "example.com/v1", "Widget");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"services", "9"}, {kCount, "9"}}));
  f.RunFor(5s);
  CHECK(f.Used("q") == "services=0");
  f.RunFor(40s);
  REQUIRE(f.events.said.size() == 1);
  CHECK(f.events.said[0].reason == "ResourceNotServed");

  f.cluster.Serve(kWidgets, "Widget");
  f.RunFor(2s);
  CHECK(f.Used("q") == "count/widgets.example.com=1,services=0");
  // Deleted again: the last count stays, because unknown is never zero.
  f.cluster.StopServing(kWidgets);
  f.RunFor(40s);
  f.Bind("s", "v1", "Service");
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/widgets.example.com=1,services=1");
}

TEST_CASE("kind classes: the last known kinds of a group stay while discovery cannot read it",
          "[controllers]") {
  KindsFixture f;
  f.cluster.Serve(kWidgets, "Widget");
  f.Bind("w", "example.com/v1", "Widget");
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCount, "9"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/widgets.example.com=1");
  f.cluster.SetStale("example.com", true);
  f.RunFor(40s);
  f.Bind("x", "example.com/v1", "Widget");
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/widgets.example.com=2");
}

TEST_CASE("kind classes: an enforced name enters status.hard only when its kind is known",
          "[controllers]") {
  controllers::QuotaControllerOptions options;
  options.guarded = [](const quota::Evaluator&, const api::ObjectKey&) { return true; };
  KindsFixture f(options);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"services", "9"}, {kCount, "9"}}));
  f.RunFor(2s);
  CHECK(f.Hard("q") == "services=9");
  f.cluster.Serve(kWidgets, "Widget");
  f.RunFor(2s);
  CHECK(f.Hard("q") == "count/widgets.example.com=9,services=9");
  CHECK(f.Used("q") == "count/widgets.example.com=0,services=0");
}

TEST_CASE("kind classes: only the version that is read is watched", "[controllers]") {
  KindsFixture f;
  f.Stop();
  f.cluster.StopServing(kBindings);
  api::GroupVersionResource other = kBindings;
  other.version = "v1";
  f.cluster.Serve(other, "ResourceBinding");
  f.Start();
  f.cluster.Put(kQuotas, MakeQuota("q", {{"services", "9"}}));
  f.RunFor(5s);
  CHECK(f.controller->tracker().Watched().empty());
  f.cluster.Serve(kBindings, "ResourceBinding");
  f.RunFor(40s);
  REQUIRE(f.controller->tracker().Watched().size() == 1);
  CHECK(f.controller->tracker().Watched()[0]->resource() == kBindings);
}

TEST_CASE("parts: each quota counts the components of its class", "[controllers]") {
  KindsFixture f;
  json::Value flink = *json::Parse(sample::kFlink);
  flink.Make({"metadata", "namespace"}) = "team-a";
  const auto quota = [](const std::string& name, const std::string& op) {
    json::Value object = MakeQuota(name, {{"cpu", "20"}, {"pods", "20"}});
    object.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{json::Object{
        {"scopeName", "PriorityClass"}, {"operator", op}, {"values", json::Array{"middle"}}}};
    return object;
  };
  f.cluster.Put(kQuotas, quota("in", "In"));
  f.cluster.Put(kQuotas, quota("out", "NotIn"));
  f.cluster.Put(kQuotas, MakeQuota("all", {{"cpu", "20"}, {"pods", "20"}}));
  f.cluster.Put(kBindings, flink);
  f.RunFor(1s);
  CHECK(f.Used("in") == "cpu=1,pods=1");
  CHECK(f.Used("out") == "cpu=8,pods=4");
  CHECK(f.Used("all") == "cpu=9,pods=5");
  f.cluster.Delete(kBindings, "team-a", "clicks-flinkdeployment");
  f.RunFor(1s);
  CHECK(f.Used("in") == "cpu=0,pods=0");
  CHECK(f.Used("out") == "cpu=0,pods=0");
}

}  // namespace kind_classes_test
