// The charges of services, claims, resource claims and plain objects (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core), and the same count by a daemon that starts afterwards.
#include <catch2/catch.hpp>
#include <list>

#include "tests/e2e/harness/story.h"

namespace e2e::evaluators_test {
namespace {

// An object of a kind with this name and spec.
std::string Object(const std::string& api_version, const std::string& kind, const std::string& name,
                   const std::string& spec = "", const std::string& annotations = "") {
  std::string text = R"({"apiVersion":")" + api_version + R"(","kind":")" + kind +
                     R"(","metadata":{"name":")" + name + R"(","annotations":{)" + annotations +
                     "}}";
  if (!spec.empty()) text += R"(,"spec":)" + spec;
  return text + "}";
}

std::string Service(const std::string& name, const std::string& spec) {
  return Object("v1", "Service", name, spec);
}

std::string Claim(const std::string& name, const std::string& storage, const std::string& more = "",
                  const std::string& annotations = "") {
  return Object("v1", "PersistentVolumeClaim", name,
                R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" +
                    storage + R"("}})" + more + "}",
                annotations);
}

std::string DeviceClaim(const std::string& name, const std::string& request) {
  return Object("resource.k8s.io/v1", "ResourceClaim", name,
                R"({"devices":{"requests":[{"name":"r",)" + request + "}]}}");
}

const std::string kTwoPorts = R"("ports":[{"name":"a","port":80},{"name":"b","port":81}])";

const std::vector<Step> kServices{
    {"POST services", Service("inside", "{" + kTwoPorts + "}"), "services=1,count/services=1"},
    {"PATCH services/inside", R"({"spec":{"type":"NodePort"}})", "services.nodeports=2"},
    {"PATCH services/inside", R"({"spec":{"type":"LoadBalancer"}})", "services.loadbalancers=1"},
    // Existing node ports are explicit now.
    {"PATCH services/inside", R"({"spec":{"allocateLoadBalancerNodePorts":false}})", ""},
    {"POST services",
     Service("bare",
             R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)" + kTwoPorts + "}"),
     "services=2,count/services=2,services.loadbalancers=2"},
    {"POST services", Service("elsewhere", R"({"type":"ExternalName","externalName":"x.test"})"),
     "services=3,count/services=3"},
    {"PATCH services/inside",
     R"({"spec":{"type":"ClusterIP","allocateLoadBalancerNodePorts":null}})",
     "services.loadbalancers=1,services.nodeports=0"},
    {"DELETE services/elsewhere", "", "services=2,count/services=2"},
};

const std::string kGold = "gold.storageclass.storage.k8s.io/";
const std::string kOld = "old.storageclass.storage.k8s.io/";

const std::vector<Step> kClaims{
    {"POST persistentvolumeclaims", Claim("plain", "1.1Ki", R"(,"storageClassName":"")"),
     "persistentvolumeclaims=1,count/persistentvolumeclaims=1,requests.storage=1127"},
    {"DELETE persistentvolumeclaims/plain", "",
     "persistentvolumeclaims=0,count/persistentvolumeclaims=0,requests.storage=0"},
    {"POST persistentvolumeclaims", Claim("a", "5Gi", R"(,"storageClassName":"gold")"),
     "persistentvolumeclaims=1,count/persistentvolumeclaims=1,requests.storage=5Gi," + kGold +
         "requests.storage=5Gi," + kGold + "persistentvolumeclaims=1"},
    // The annotation wins over the field.
    {"POST persistentvolumeclaims",
     Claim("b", "2Gi", R"(,"storageClassName":"gold")",
           R"("volume.beta.kubernetes.io/storage-class":"old")"),
     "persistentvolumeclaims=2,count/persistentvolumeclaims=2,requests.storage=7Gi," + kOld +
         "requests.storage=2Gi," + kOld + "persistentvolumeclaims=1"},
    {"PATCH persistentvolumeclaims/a/status", R"({"status":{"phase":"Bound"}})", ""},
    {"PATCH persistentvolumeclaims/a", R"({"spec":{"resources":{"requests":{"storage":"6Gi"}}}})",
     "requests.storage=8Gi," + kGold + "requests.storage=6Gi"},
};

const std::string kGpu = "gpu.deviceclass.resource.k8s.io/devices";
const std::string kNic = "nic.deviceclass.resource.k8s.io/devices";
const std::string kDeviceClaims = "count/resourceclaims.resource.k8s.io";

const std::vector<Step> kDevices{
    {"POST resourceclaims", DeviceClaim("one", R"("exactly":{"deviceClassName":"gpu"})"),
     kDeviceClaims + "=1," + kGpu + "=1"},
    {"POST resourceclaims", DeviceClaim("five", R"("exactly":{"deviceClassName":"gpu","count":5})"),
     kDeviceClaims + "=2," + kGpu + "=6"},
    {"POST resourceclaims",
     DeviceClaim("all", R"("exactly":{"deviceClassName":"nic","allocationMode":"All"})"),
     kDeviceClaims + "=3," + kNic + "=32"},
    {"POST resourceclaims",
     DeviceClaim("choice", R"("firstAvailable":[{"name":"x","deviceClassName":"gpu"},
         {"name":"y","deviceClassName":"gpu","count":2},{"name":"z","deviceClassName":"nic"}])"),
     kDeviceClaims + "=4," + kGpu + "=8," + kNic + "=33"},
    {"DELETE resourceclaims/five", "", kDeviceClaims + "=3," + kGpu + "=3"},
    {"DELETE resourceclaims/all", "", kDeviceClaims + "=2," + kNic + "=1"},
};

const std::string kTemplate =
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c",
       "image":"registry.invalid/none:1"}]}})";
const std::string kReplicas = R"({"replicas":0,"selector":{"matchLabels":{"app":"x"}},)";

// Kinds of which only the number counts: the resource, its names in a quota, and an object "one".
struct Counted {
  std::string resource;
  std::vector<std::string> names;
  std::string object;
};

const std::vector<Counted> kCounted{
    {"configmaps", {"configmaps", "count/configmaps"}, Object("v1", "ConfigMap", "one")},
    {"secrets", {"secrets", "count/secrets"}, Object("v1", "Secret", "one")},
    {"replicationcontrollers",
     {"replicationcontrollers", "count/replicationcontrollers"},
     Object("v1", "ReplicationController", "one",
            R"({"replicas":0,"selector":{"app":"x"},)" + kTemplate + "}")},
    {"resourcequotas",
     {"resourcequotas", "count/resourcequotas"},
     Object("v1", "ResourceQuota", "one", "{}")},
    {"serviceaccounts", {"count/serviceaccounts"}, Object("v1", "ServiceAccount", "one")},
    {"deployments",
     {"count/deployments.apps"},
     Object("apps/v1", "Deployment", "one", kReplicas + kTemplate + "}")},
    {"replicasets",
     {"count/replicasets.apps"},
     Object("apps/v1", "ReplicaSet", "one", kReplicas + kTemplate + "}")},
    {"statefulsets",
     {"count/statefulsets.apps"},
     Object("apps/v1", "StatefulSet", "one",
            kReplicas + R"("serviceName":"x",)" + kTemplate + "}")},
    {"leases",
     {"count/leases.coordination.k8s.io"},
     Object("coordination.k8s.io/v1", "Lease", "one", "{}")},
};

std::string UsedOf(const Counted& kind, int objects) {
  std::string used;
  for (const std::string& name : kind.names) {
    const int own = kind.resource == "resourcequotas" ? 1 : 0;  // the quota itself
    used += (used.empty() ? "" : ",") + name + "=" + std::to_string(objects + own);
  }
  return used;
}

// A story of objects that are only counted. One object of each kind is left at the end.
std::unique_ptr<Story> CountedStory(Scenario& s) {
  std::vector<std::string> names;
  for (const Counted& kind : kCounted)
    names.insert(names.end(), kind.names.begin(), kind.names.end());
  auto story = std::make_unique<Story>(s, names);
  story->Expect("resourcequotas=1,count/resourcequotas=1");
  return story;
}

// The storage class "gold", whose claims may grow.
class GoldClass {
 public:
  explicit GoldClass(Scenario& s) : s_(s) {
    s.api().Create(PathOf("storageclasses"),
                   Json(R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass",
        "provisioner":"x.test/none","allowVolumeExpansion":true,"metadata":{"name":"gold"}})"));
  }
  ~GoldClass() { s_.api().Delete(PathOf("storageclasses", "", "gold")); }
  GoldClass(const GoldClass&) = delete;
  GoldClass& operator=(const GoldClass&) = delete;

 private:
  Scenario& s_;
};

}  // namespace

TEST_CASE("each built-in kind is charged as upstream charges it, before and after a restart",
          "[e2e][evaluators][server]") {
  Scenario s;
  const GoldClass gold(s);
  Story services(s, {"services", "count/services", "services.loadbalancers", "services.nodeports"});
  Story claims(s, {"persistentvolumeclaims", "count/persistentvolumeclaims", "requests.storage",
                   kGold + "requests.storage", kGold + "persistentvolumeclaims",
                   kOld + "requests.storage", kOld + "persistentvolumeclaims"});
  const auto counted = CountedStory(s);
  s.StartDaemon();
  services.Play(kServices);
  claims.Play(kClaims);
  for (const Counted& kind : kCounted) {
    counted->Play({"POST " + kind.resource, kind.object, UsedOf(kind, 1)});
  }

  s.StopDaemon();
  services.Do({"DELETE services/bare", "", "services=1,count/services=1,services.loadbalancers=0"});
  services.Do({"PATCH services/inside", R"({"spec":{"type":"NodePort"}})", "services.nodeports=2"});
  claims.Do({"DELETE persistentvolumeclaims/b", "",
             "persistentvolumeclaims=1,count/persistentvolumeclaims=1,requests.storage=6Gi," +
                 kOld + "requests.storage=0," + kOld + "persistentvolumeclaims=0"});
  for (const Counted& kind : kCounted) {
    counted->Do({"DELETE " + kind.resource + "/one", "", UsedOf(kind, 0)});
  }
  s.StartDaemon();
  for (Story* story : {&services, &claims, counted.get()}) story->WaitCounted();

  // The new daemon counts on from there.
  services.Play({"DELETE services/inside", "", "services=0,count/services=0,services.nodeports=0"});
  claims.Play({"DELETE persistentvolumeclaims/a", "",
               "persistentvolumeclaims=0,count/persistentvolumeclaims=0,requests.storage=0," +
                   kGold + "requests.storage=0," + kGold + "persistentvolumeclaims=0"});
}

TEST_CASE("a claim is charged the storage that its driver allocates, if that is more",
          "[e2e][evaluators][since-1.32][server]") {
  Scenario s;
  const GoldClass gold(s);
  Story claims(s, {"requests.storage", kGold + "requests.storage"});
  s.StartDaemon();
  claims.Play({
      {"POST persistentvolumeclaims", Claim("a", "5Gi", R"(,"storageClassName":"gold")"),
       "requests.storage=5Gi," + kGold + "requests.storage=5Gi"},
      {"PATCH persistentvolumeclaims/a/status", R"({"status":{"phase":"Bound"}})", ""},
      {"PATCH persistentvolumeclaims/a", R"({"spec":{"resources":{"requests":{"storage":"6Gi"}}}})",
       "requests.storage=6Gi," + kGold + "requests.storage=6Gi"},
      {"PATCH persistentvolumeclaims/a/status",
       R"({"status":{"allocatedResources":{"storage":"10Gi"}}})",
       "requests.storage=10Gi," + kGold + "requests.storage=10Gi"},
  });
  s.StopDaemon();
  s.StartDaemon();
  claims.WaitCounted();
}

TEST_CASE("device claims are charged as upstream charges them, before and after a restart",
          "[e2e][evaluators][since-1.34][server]") {
  Scenario s;
  Story devices(s, {kDeviceClaims, kGpu, kNic});
  s.StartDaemon();
  devices.Play(kDevices);
  s.StopDaemon();
  devices.Do(
      {"DELETE resourceclaims/choice", "", kDeviceClaims + "=1," + kGpu + "=1," + kNic + "=0"});
  s.StartDaemon();
  devices.WaitCounted();
  devices.Play({"DELETE resourceclaims/one", "", kDeviceClaims + "=0," + kGpu + "=0"});
}

}  // namespace e2e::evaluators_test
