// Counting rules in status.used that need time, a quota, or several objects, which unit tests of
// evaluators do not have (kubernetes v1.36.3, pkg/quota/v1/evaluator/core and
// pkg/controller/resourcequota).

#include <catch2/catch.hpp>
#include <string>

#include "pkg/api/time.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace counting_rules_test {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::kSecrets;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::MakeSecret;

namespace {

const api::GroupVersionResource kServices{"", "v1", "services"};
const api::GroupVersionResource kClaims{"", "v1", "persistentvolumeclaims"};

json::Value Parsed(const std::string& text) {
  const auto value = json::Parse(text);
  REQUIRE(value.has_value());
  return *value;
}

void PutNamed(ControllerFixture& f, const api::GroupVersionResource& resource,
              const std::string& name, const std::string& rest) {
  json::Value object = Parsed("{" + rest + "}");
  object.Make({"metadata", "name"}) = name;
  object.Make({"metadata", "namespace"}) = "team-a";
  f.cluster.Put(resource, std::move(object));
}

void PutService(ControllerFixture& f, const std::string& spec) {
  PutNamed(f, kServices, "s", R"("spec":)" + spec);
}

}  // namespace

TEST_CASE(
    "counting: a stuck terminating pod is free after twice its grace period, without an event",
    "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "9"}, {"cpu", "9"}, {"count/pods", "9"}}));
  f.cluster.Put(kPods, MakePod("a", "1"));
  f.cluster.Put(kPods, MakePod("b", "2"));
  f.RunFor(1s);
  json::Value pod = *f.cluster.Find(kPods, "team-a", "a");
  pod.Make({"metadata", "deletionTimestamp"}) = api::FormatTime(f.scheduler.WallNow() + 30s);
  pod.Make({"metadata", "deletionGracePeriodSeconds"}) = 30;
  f.cluster.Put(kPods, pod);
  f.RunFor(58s);
  CHECK(f.Used("q") == "count/pods=2,cpu=3,pods=2");
  f.RunFor(6s);
  CHECK(f.Used("q") == "count/pods=2,cpu=2,pods=1");
}

TEST_CASE("counting: a stuck pod is checked again soon after the wall clock was set",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "9"}, {"cpu", "9"}}));
  json::Value pod = MakePod("a", "1");
  pod.Make({"metadata", "deletionTimestamp"}) = api::FormatTime(f.scheduler.WallNow() + 600s);
  pod.Make({"metadata", "deletionGracePeriodSeconds"}) = 600;
  f.cluster.Put(kPods, pod);
  f.cluster.Put(kPods, MakePod("b", "2"));
  f.RunFor(2s);
  CHECK(f.Used("q") == "cpu=3,pods=2");
  f.scheduler.SetWallBy(1h);
  f.RunFor(14s);
  CHECK(f.Used("q") == "cpu=2,pods=1");
  SECTION("the clock is corrected") {
    f.scheduler.SetWallBy(-1h);
    f.RunFor(15s);
    CHECK(f.Used("q") == "cpu=3,pods=2");
  }
  SECTION("the clock stays wrong") {
    f.RunFor(60s);
    CHECK(f.Used("q") == "cpu=2,pods=1");
  }
}

TEST_CASE("counting: a finished pod still counts as an object", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "9"}, {"cpu", "9"}, {"count/pods", "9"}}));
  for (const char* phase : {"Succeeded", "Failed", "Running"}) {
    json::Value pod = MakePod(phase, "1");
    pod.Make({"status", "phase"}) = phase;
    f.cluster.Put(kPods, pod);
  }
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/pods=3,cpu=1,pods=1");
}

TEST_CASE("counting: each alias of a name is counted separately", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(
      kQuotas,
      MakeQuota("q",
                {{"cpu", "9"}, {"requests.cpu", "8"}, {"secrets", "7"}, {"count/secrets", "6"}}));
  f.cluster.Put(kPods, MakePod("a", "100m"));
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/secrets=1,cpu=100m,requests.cpu=100m,secrets=1");
}

TEST_CASE("counting: uncounted names are absent, and a stale name is removed with its limit",
          "[controllers]") {
  ControllerFixture f;
  const json::Object hard = {{"pods", "9"},
                             {"count/events", "9"},
                             {"limits.example.com/gpu", "9"},
                             {"example.com/gpu", "9"},
                             {"requests.example.com/gpu", "9"}};
  f.cluster.Put(kQuotas, MakeQuota("q", hard));
  f.RunFor(20s);
  // A name that pods could request is counted, although no pod requests it.
  CHECK(f.Used("q") == "pods=0,requests.example.com/gpu=0");
  f.WriteStatus("q", hard, {{"pods", "0"}, {"example.com/gpu", "4"}});
  f.RunFor(20s);
  CHECK(f.Used("q") == "example.com/gpu=4,pods=0,requests.example.com/gpu=0");
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"spec", "hard"}) = json::Object{{"pods", "9"}};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.Hard("q") == "pods=9");
}

TEST_CASE("counting: scopes and selector must both match a pod", "[controllers]") {
  ControllerFixture f;
  json::Value quota = MakeQuota("q", {{"pods", "9"}, {"cpu", "9"}});
  quota.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  quota.Make({"spec", "scopeSelector"}) =
      Parsed(R"({"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn",
                                      "values":["low"]}]})");
  f.cluster.Put(kQuotas, quota);
  int number = 0;
  for (const char* priority : {"", "low", "high"}) {
    for (const bool deadline : {false, true}) {
      json::Value pod = MakePod("p" + std::to_string(number++), "1");
      pod.Make({"spec", "priorityClassName"}) = priority;
      if (deadline) pod.Make({"spec", "activeDeadlineSeconds"}) = 60;
      f.cluster.Put(kPods, pod);
    }
  }
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=2,pods=2");
}

TEST_CASE("counting: names of a resource without this scope are zero", "[controllers]") {
  ControllerFixture f;
  json::Value quota = MakeQuota("q", {{"count/secrets", "9"}, {"count/pods", "9"}});
  quota.Make({"spec", "scopes"}) = json::Array{"BestEffort"};
  f.cluster.Put(kQuotas, quota);
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.cluster.Put(kPods, MakePod("a", "0"));
  f.cluster.Put(kPods, MakePod("b", "1"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/pods=1,count/secrets=0");
}

TEST_CASE("counting: usage follows the type and the ports of a service", "[controllers]") {
  ControllerFixture f;
  f.cluster.Serve(kServices, "Service");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"services", "9"},
                                         {"services.loadbalancers", "9"},
                                         {"services.nodeports", "9"}}));
  const auto after = [&](const std::string& spec) {
    PutService(f, spec);
    f.RunFor(2s);
    return f.Used("q");
  };
  f.RunFor(2s);
  CHECK(after(R"({"type":"ClusterIP","ports":[{"port":1},{"port":2}]})") ==
        "services=1,services.loadbalancers=0,services.nodeports=0");
  CHECK(after(R"({"type":"NodePort","ports":[{"port":1},{"port":2}]})") ==
        "services=1,services.loadbalancers=0,services.nodeports=2");
  CHECK(after(R"({"type":"NodePort","ports":[{"port":1}]})") ==
        "services=1,services.loadbalancers=0,services.nodeports=1");
  CHECK(after(R"({"type":"LoadBalancer","ports":[{"port":1},{"port":2},{"port":3}]})") ==
        "services=1,services.loadbalancers=1,services.nodeports=3");
  CHECK(after(R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
                  "ports":[{"port":1},{"port":2,"nodePort":30002},{"port":3}]})") ==
        "services=1,services.loadbalancers=1,services.nodeports=1");
  CHECK(after(R"({"type":"ExternalName"})") ==
        "services=1,services.loadbalancers=0,services.nodeports=0");
}

TEST_CASE("counting: a claim that moves between volume classes counts for both until it has moved",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Serve(kClaims, "PersistentVolumeClaim");
  for (const std::string name : {"gold", "silver"}) {
    json::Value quota = MakeQuota(name, {{"requests.storage", "9Ti"}});
    quota.Make({"spec", "scopeSelector"}) =
        Parsed(R"({"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In",
                                        "values":[")" +
               name + R"("]}]})");
    f.cluster.Put(kQuotas, quota);
  }
  const auto used = [&](const std::string& wanted, const std::string& current) {
    PutNamed(f, kClaims, "c",
             R"("spec":{"resources":{"requests":{"storage":"5Gi"}},"volumeAttributesClassName":")" +
                 wanted + R"("},"status":{"currentVolumeAttributesClassName":")" + current + "\"}");
    f.RunFor(2s);
    return f.Used("gold") + " " + f.Used("silver");
  };
  f.RunFor(2s);
  CHECK(used("gold", "gold") == "requests.storage=5Gi requests.storage=0");
  CHECK(used("silver", "gold") == "requests.storage=5Gi requests.storage=5Gi");
  CHECK(used("silver", "silver") == "requests.storage=0 requests.storage=5Gi");
}

}  // namespace counting_rules_test
