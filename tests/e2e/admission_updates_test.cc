// Updates that need quota, and updates that must never be refused.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"

namespace e2e::admission_updates_test {
namespace {

const char* const kNodePort = R"({"spec":{"type":"NodePort"}})";
const char* const kClusterIp = R"({"spec":{"type":"ClusterIP"}})";

std::string SizePatch(const std::string& size) {
  return R"({"spec":{"resources":{"requests":{"storage":")" + size + R"("}}}})";
}

// A class whose claims may grow, until it is destroyed.
class GrowingClass {
 public:
  explicit GrowingClass(Api& api) : api_(api) {
    api_.Create(
        PathOf("storageclasses"),
        Json(R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":")" +
             name_ + R"("},"provisioner":"example.com/disk","allowVolumeExpansion":true})"));
  }
  ~GrowingClass() {
    (void)api_.Do({.verb = "DELETE", .path = PathOf("storageclasses", "", name_)});
  }

  // A bound claim of this class.
  void MakeClaim(Admission& a, const std::string& name, const std::string& size) const {
    json::Value claim = Claim(name, size);
    claim.Make({"spec", "storageClassName"}) = name_;
    claim.Make({"spec", "volumeName"}) = "volume-of-" + name;
    a.scenario().Create("persistentvolumeclaims", claim);
    a.api().MergePatch(a.scenario().Path("persistentvolumeclaims", name, "status"),
                       PhasePatch("Bound"));
  }

 private:
  Api& api_;
  std::string name_ = FreshName("grows");
};

Attempt Resize(Admission& a, const std::string& pod, const std::string& cpu) {
  return ToAttempt(a.api().Do({.verb = "PATCH",
                               .path = a.scenario().Path("pods", pod, "resize"),
                               .content_type = std::string(client::kStrategicMergePatch),
                               .body = R"({"spec":{"containers":[{"name":"main",
                                         "resources":{"requests":{"cpu":")" +
                                       cpu + R"("}}}]}})"}));
}

}  // namespace

TEST_CASE("admission: a service that changes to type NodePort needs quota for node ports",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"services", "5"}, {"services.nodeports", "1"}});
  a.scenario().Create("services", ClusterIpService("a"));
  a.scenario().Create("services", ClusterIpService("b"));
  CHECK(a.Patch(a.scenario().Path("services", "a"), kNodePort).ok());
  const Attempt second = a.Patch(a.scenario().Path("services", "b"), kNodePort);
  CHECK(second.code == 403);
  CHECK(second.reason == "Forbidden");
  CHECK(second.message ==
        "admission webhook \"updates.services.core.quota-controller-manager.io\" denied the "
        "request: services \"b\" is forbidden: exceeded quota: q, requested: "
        "services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1");
  a.scenario().WaitUsed("q", {{"services", "2"}, {"services.nodeports", "1"}});
  CHECK(a.Patch(a.scenario().Path("services", "a"), kClusterIp).ok());
  a.scenario().WaitUsed("q", {{"services", "2"}, {"services.nodeports", "0"}});
  CHECK(a.Patch(a.scenario().Path("services", "b"), kNodePort).ok());
  a.scenario().WaitUsed("q", {{"services", "2"}, {"services.nodeports", "1"}});
}

TEST_CASE("admission: a claim grows up to the limit", "[e2e][admission]") {
  Admission a;
  const GrowingClass grows(a.api());
  a.Limit("q", {{"requests.storage", "10Gi"}});
  grows.MakeClaim(a, "c", "4Gi");
  grows.MakeClaim(a, "d", "1Gi");
  const std::string path = a.scenario().Path("persistentvolumeclaims", "c");
  CHECK(a.Patch(path, SizePatch("9Gi")).ok());
  a.scenario().WaitUsed("q", {{"requests.storage", "10Gi"}});
  CHECK_THAT(a.Patch(path, SizePatch("11Gi")).message,
             Catch::EndsWith("persistentvolumeclaims \"c\" is forbidden: exceeded quota: q, "
                             "requested: requests.storage=2Gi, used: requests.storage=10Gi, "
                             "limited: requests.storage=10Gi"));
  CHECK(a.Patch(path, R"({"metadata":{"labels":{"x":"y"}}})").ok());
  a.scenario().WaitUsed("q", {{"requests.storage", "10Gi"}});
}

TEST_CASE("admission: a pod is resized up to the limit, and down while usage exceeds it",
          "[e2e][admission][since-1.33][server]") {
  Admission a;
  a.Limit("q", {{"requests.cpu", "1"}});
  a.scenario().Create("pods", Pod("p", {{"cpu", "200m"}}));
  a.scenario().Create("pods", Pod("other", {{"cpu", "100m"}}));
  for (const std::string pod : {"p", "other"}) {
    a.api().MergePatch(a.scenario().Path("pods", pod, "status"), PhasePatch("Running"));
  }
  CHECK(Resize(a, "p", "900m").Text() == "200 : ");
  a.scenario().WaitUsed("q", {{"requests.cpu", "1"}});
  const Attempt beyond = Resize(a, "p", "1100m");
  CHECK(beyond.code == 403);
  CHECK(beyond.message ==
        Denied("pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=200m, "
               "used: requests.cpu=1, limited: requests.cpu=1"));
  a.api().MergePatch(a.scenario().Path("resourcequotas", "q"),
                     HardPatch({{"requests.cpu", "300m"}}));
  a.scenario().WaitUsed("q", {{"requests.cpu", "1"}});
  CHECK(Resize(a, "p", "500m").Text() == "200 : ");
  CHECK(Resize(a, "other", "101m").exceeded());
  a.scenario().WaitUsed("q", {{"requests.cpu", "600m"}});
}

TEST_CASE("admission: a pod that gets a deadline moves to the quotas of its new scope",
          "[e2e][admission]") {
  Admission a;
  json::Value short_lived = Quota("short", {{"pods", "1"}});
  short_lived.Make({"spec", "scopes"}) = json::Array{"Terminating"};
  json::Value long_lived = Quota("long", {{"pods", "5"}});
  long_lived.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  a.LimitScoped(short_lived);
  a.LimitScoped(long_lived);
  a.scenario().Create("pods", Pod("a"));
  a.scenario().Create("pods", Pod("b"));
  a.scenario().WaitUsed("long", {{"pods", "2"}});
  const char* const deadline = R"({"spec":{"activeDeadlineSeconds":600}})";
  CHECK(a.Patch(a.scenario().Path("pods", "a"), deadline).ok());
  CHECK_THAT(a.Patch(a.scenario().Path("pods", "b"), deadline).message,
             Catch::EndsWith("pods \"b\" is forbidden: exceeded quota: short, requested: pods=1, "
                             "used: pods=1, limited: pods=1"));
  a.scenario().WaitUsed("short", {{"pods", "1"}});
  a.scenario().WaitUsed("long", {{"pods", "1"}});
}

TEST_CASE("admission: an object above its limit may shrink, stay or be deleted",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"services", "9"}, {"services.nodeports", "3"}});
  for (const std::string name : {"a", "b", "c"}) {
    json::Value service = ClusterIpService(name);
    service.Make({"spec", "type"}) = "NodePort";
    service.Make({"metadata", "finalizers"}) = json::Array{"example.com/keep"};
    a.scenario().Create("services", service);
  }
  a.api().MergePatch(a.scenario().Path("resourcequotas", "q"),
                     HardPatch({{"services", "1"}, {"services.nodeports", "1"}}));
  a.scenario().WaitUsed("q", {{"services", "3"}, {"services.nodeports", "3"}});
  CHECK(a.Patch(a.scenario().Path("services", "a"), kClusterIp).ok());
  CHECK(a.Patch(a.scenario().Path("services", "b"), R"({"metadata":{"labels":{"x":"y"}}})").ok());
  a.scenario().WaitUsed("q", {{"services", "3"}, {"services.nodeports", "2"}});
  CHECK(a.Patch(a.scenario().Path("services", "a"), kNodePort).exceeded());
  // An object that is being deleted is treated like any other, and its finalizers can be removed.
  a.scenario().Delete("services", "b");
  CHECK(a.api().Exists(a.scenario().Path("services", "b")));
  CHECK(a.Patch(a.scenario().Path("services", "b"),
                R"({"spec":{"ports":[{"name":"x","port":80},{"name":"y","port":81}]}})")
            .exceeded());
  CHECK(a.Patch(a.scenario().Path("services", "b"), R"({"metadata":{"finalizers":null}})").ok());
  CHECK_FALSE(a.api().Exists(a.scenario().Path("services", "b")));
  a.scenario().WaitUsed("q", {{"services", "2"}, {"services.nodeports", "1"}});
  for (const std::string name : {"a", "c"}) {
    CHECK(a.Patch(a.scenario().Path("services", name), R"({"metadata":{"finalizers":null}})").ok());
  }
}

// A finalizer can keep such objects for any time.
TEST_CASE("admission: an object in deletion may grow up to the limit, and is deleted above it",
          "[e2e][admission]") {
  Admission a;
  const GrowingClass grows(a.api());
  a.Limit("q", {{"requests.storage", "10Gi"}, {"services.nodeports", "1"}});
  grows.MakeClaim(a, "c", "4Gi");
  a.scenario().Create("services", ClusterIpService("s"));
  const std::string claim = a.scenario().Path("persistentvolumeclaims", "c");
  const std::string service = a.scenario().Path("services", "s");
  for (const std::string& path : {claim, service}) {
    a.api().MergePatch(path, Json(R"({"metadata":{"finalizers":["example.com/keep"]}})"));
    a.api().Delete(path);
    CHECK_FALSE(a.api().Get(path).StringAt({"metadata", "deletionTimestamp"}).empty());
  }
  const Attempt beyond = a.Patch(claim, SizePatch("100Ti"));
  CHECK_THAT(beyond.message,
             Catch::EndsWith("persistentvolumeclaims \"c\" is forbidden: exceeded quota: q, "
                             "requested: requests.storage=102396Gi, used: requests.storage=4Gi, "
                             "limited: requests.storage=10Gi"));
  const Attempt ports = a.Patch(service, R"({"spec":{"type":"NodePort","ports":[
      {"name":"x","port":80},{"name":"y","port":81}]}})");
  INFO(ports.Text());
  CHECK(ports.exceeded());
  CHECK(a.Patch(claim, SizePatch("9Gi")).Text() == "200 : ");
  CHECK(a.Patch(service, kNodePort).Text() == "200 : ");
  a.scenario().WaitUsed("q", {{"requests.storage", "9Gi"}, {"services.nodeports", "1"}});
  a.api().MergePatch(a.scenario().Path("resourcequotas", "q"),
                     HardPatch({{"requests.storage", "1Gi"}, {"services.nodeports", "0"}}));
  a.scenario().WaitUsed("q", {{"requests.storage", "9Gi"}, {"services.nodeports", "1"}});
  for (const std::string& path : {claim, service}) {
    CHECK(a.Patch(path, R"({"metadata":{"finalizers":null}})").Text() == "200 : ");
    CHECK_FALSE(a.api().Exists(path));
  }
  a.scenario().WaitUsed("q", {{"requests.storage", "0"}, {"services.nodeports", "0"}});
}

}  // namespace e2e::admission_updates_test
