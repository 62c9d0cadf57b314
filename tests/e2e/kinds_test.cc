// Kinds with more usage than their number of objects, and kinds that are created and deleted.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::kinds_test {
namespace {

constexpr const char* kStorageOfGold = "gold.storageclass.storage.k8s.io/requests.storage";
constexpr const char* kClaimsOfGold = "gold.storageclass.storage.k8s.io/persistentvolumeclaims";
constexpr const char* kDevices = "gpu.deviceclass.resource.k8s.io/devices";

json::Value Service(const std::string& name, const std::string& type, int ports) {
  auto service = ClusterIpService(name);
  service.Make({"spec", "type"}) = type;
  json::Array list;
  for (int i = 0; i < ports; ++i) {
    json::Object port;
    port.Set("name", "p" + std::to_string(i));
    port.Set("port", 80 + i);
    list.emplace_back(std::move(port));
  }
  service.Make({"spec", "ports"}) = std::move(list);
  return service;
}

json::Value ClaimOfClass(const std::string& name, const std::string& size,
                         const std::string& storage_class) {
  auto claim = Claim(name, size);
  claim.Make({"spec", "storageClassName"}) = storage_class;
  return claim;
}

json::Value DeviceClaim(const std::string& name, int devices) {
  auto claim = Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","spec":{"devices":
      {"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}})");
  claim.Make({"metadata", "name"}) = name;
  auto& request = (*claim.Make({"spec", "devices", "requests"}).AsArray())[0];
  request.Make({"exactly", "count"}) = devices;
  return claim;
}

}  // namespace

TEST_CASE("services are counted by their type", "[e2e][kinds]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"services", "9"},
                                         {"services.loadbalancers", "9"},
                                         {"services.nodeports", "9"}}));
  s.StartDaemon();
  s.Create("services", Service("internal", "ClusterIP", 1));
  s.Create("services", Service("node", "NodePort", 2));
  s.Create("services", Service("balanced", "LoadBalancer", 3));
  s.WaitUsed("q",
             {{"services", "3"}, {"services.loadbalancers", "1"}, {"services.nodeports", "5"}});
  s.Delete("services", "balanced");
  s.WaitUsed("q",
             {{"services", "2"}, {"services.loadbalancers", "0"}, {"services.nodeports", "2"}});
}

TEST_CASE("claims are counted by size and storage class", "[e2e][kinds]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"persistentvolumeclaims", "9"},
                                         {"requests.storage", "90Gi"},
                                         {kStorageOfGold, "90Gi"},
                                         {kClaimsOfGold, "9"}}));
  s.StartDaemon();
  s.Create("persistentvolumeclaims", ClaimOfClass("a", "5Gi", "gold"));
  s.Create("persistentvolumeclaims", ClaimOfClass("b", "2Gi", "silver"));
  s.WaitUsed("q", {{"persistentvolumeclaims", "2"},
                   {"requests.storage", "7Gi"},
                   {kStorageOfGold, "5Gi"},
                   {kClaimsOfGold, "1"}});
  for (const auto* name : {"a", "b"}) {
    s.api().MergePatch(s.Path("persistentvolumeclaims", name),
                       Json(R"({"metadata":{"finalizers":null}})"));
    s.Delete("persistentvolumeclaims", name);
  }
  s.WaitUsed("q", {{"persistentvolumeclaims", "0"},
                   {"requests.storage", "0"},
                   {kStorageOfGold, "0"},
                   {kClaimsOfGold, "0"}});
}

TEST_CASE("resource claims are counted by the devices of a class", "[e2e][kinds][since-1.34]") {
  Scenario s;
  s.Create("resourcequotas",
           Quota("q", {{"count/resourceclaims.resource.k8s.io", "9"}, {kDevices, "40"}}));
  s.StartDaemon();
  const std::string path = "/apis/resource.k8s.io/v1/namespaces/" + s.ns() + "/resourceclaims";
  s.api().Create(path, DeviceClaim("one", 1));
  s.api().Create(path, DeviceClaim("five", 5));
  s.WaitUsed("q", {{"count/resourceclaims.resource.k8s.io", "2"}, {kDevices, "6"}});
  s.api().Delete(path + "/five");
  s.WaitUsed("q", {{"count/resourceclaims.resource.k8s.io", "1"}, {kDevices, "1"}});
  s.api().Delete(path + "/one");
  s.WaitUsed("q", {{"count/resourceclaims.resource.k8s.io", "0"}, {kDevices, "0"}});
}

TEST_CASE("a custom kind that appears after its quota is counted until it is removed",
          "[e2e][kinds]") {
  Scenario s;
  const CustomKind things("things");
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {things.CountName(), "5"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});  // the kind is unknown: its name has no count

  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  s.WaitUsed("q", {{"pods", "0"}, {things.CountName(), "0"}}, Stretched(10s));
  CreateCustom(s, things, "one");
  s.WaitUsed("q", {{"pods", "0"}, {things.CountName(), "1"}});
  s.api().Delete(things.Path(s.ns(), "one"));
  s.WaitUsed("q", {{"pods", "0"}, {things.CountName(), "0"}});

  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}, {things.CountName(), "0"}});
}

TEST_CASE("a kind that cannot be listed does not affect other kinds", "[e2e][kinds][real-only]") {
  Scenario s;
  const CustomKind broken("things");
  s.api().Create(PathOf("customresourcedefinitions"), broken.Definition());
  CreateCustom(s, broken, "stored-as-v1");
  BreakConversion(s, broken);

  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {broken.CountName(), "5"}}));
  s.Create("resourcequotas", Quota("other", {{"secrets", "9"}}));
  auto& daemon = s.StartDaemon();
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}});
  s.WaitUsed("other", {{"secrets", "0"}});
  s.Delete("pods", "p");
  s.WaitUsed("q", {{"pods", "0"}});
  CHECK(daemon.Running());

  // Repaired: counted again without help.
  MendConversion(s, broken);
  s.WaitUsed("q", {{"pods", "0"}, {broken.CountName(), "1"}}, Stretched(60s));
  s.api().Delete(PathOf("customresourcedefinitions", "", broken.Crd()));
}

}  // namespace e2e::kinds_test
