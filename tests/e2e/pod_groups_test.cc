// A device claim that the pods of a PodGroup share (KEP-5729, feature gate
// DRAWorkloadResourceClaims): it is one object, so it counts once, however many pods use it. And
// what `kubectl quota check` tells of a gang of which some pods do not fit.
// Kubernetes 1.36 has PodGroups in scheduling.k8s.io/v1alpha2, 1.37 in v1beta1, off by default.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::pod_groups_test {
namespace {

constexpr const char* kGates = "GenericWorkload=true,DRAWorkloadResourceClaims=true";
constexpr const char* kClaimCount = "count/resourceclaims.resource.k8s.io";
constexpr const char* kDevices = "gpu.deviceclass.resource.k8s.io/devices";
constexpr const char* kSpec = R"({"devices":{"requests":[
    {"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":3}}]}})";

json::Value Named(json::Value object, const std::string& name) {
  object.Make({"metadata", "name"}) = name;
  return object;
}

// The version in which the server has PodGroups.
std::string GroupVersion(Api& api) {
  return "scheduling.k8s.io/" + std::string(MinorVersion(api) >= 37 ? "v1beta1" : "v1alpha2");
}

json::Value Group(const std::string& version, const std::string& name) {
  json::Value group = Json(R"({"kind":"PodGroup","spec":{
      "schedulingPolicy":{"gang":{"minCount":4}},
      "resourceClaims":[{"name":"gpus","resourceClaimTemplateName":"three"}]}})");
  group.Make({"apiVersion"}) = version;
  return Named(std::move(group), name);
}

// A pod of the group that has the group's claim.
json::Value Member(const std::string& name, const std::string& group) {
  json::Value pod = Pod(name);
  pod.Make({"spec", "schedulingGroup", "podGroupName"}) = group;
  pod.Make({"spec", "resourceClaims"}) =
      Json(R"([{"name":"gpus","resourceClaimTemplateName":"three"}])");
  json::Value& container = pod.Make({"spec", "containers"}).AsArray()->front();
  container.Make({"resources", "claims"}) = Json(R"([{"name":"gpus"}])");
  return pod;
}

// The claim of a stored group as kube-controller-manager creates it (kubernetes v1.36.3,
// pkg/controller/resourceclaim/controller.go).
json::Value ClaimOf(const json::Value& group) {
  json::Value claim = Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{
      "annotations":{"resource.kubernetes.io/pod-claim-name":"gpus"}}})");
  const std::string name(group.StringAt({"metadata", "name"}));
  claim.Make({"metadata", "generateName"}) = name + "-gpus-";
  claim.Make({"metadata", "ownerReferences"}) =
      json::Array{json::Object{{"apiVersion", std::string(group.StringAt({"apiVersion"}))},
                               {"kind", "PodGroup"},
                               {"name", name},
                               {"uid", std::string(group.StringAt({"metadata", "uid"}))},
                               {"controller", true}}};
  claim.Make({"spec"}) = Json(kSpec);
  return claim;
}

}  // namespace

TEST_CASE("admission: the claim that the pods of a group share counts once",
          "[e2e][devices][kubectl-quota][admission][server][real-only][since-1.36]") {
  const auto server =
      StartServer({.runtime_config = "api/alpha=true,api/beta=true", .feature_gates = kGates});
  Admission a(*server, {});
  Scenario& s = a.scenario();
  const std::string version = GroupVersion(a.api());
  const std::string groups = "/apis/" + version + "/namespaces/" + s.ns() + "/podgroups";
  const std::string devices = "/apis/resource.k8s.io/v1/namespaces/" + s.ns();
  const std::string claims = devices + "/resourceclaims";
  json::Value three =
      Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","spec":{}})");
  three.Make({"spec", "spec"}) = Json(kSpec);
  a.api().Create(devices + "/resourceclaimtemplates", Named(std::move(three), "three"));
  const auto create = [&](const std::string& path, const json::Value& object) {
    return ToAttempt(a.api().Do(PostOf(path, object)));
  };
  // Room for one claim, not for one of each pod.
  a.Limit("q", {{kDevices, "5"}, {kClaimCount, "9"}, {"pods", "7"}});

  TempDir dir;
  std::unique_ptr<Process> controller;
  if (HaveBuiltinController()) {
    controller = StartBuiltinController("resourceclaim-controller", server->Kubeconfig(),
                                        dir.path() + "/controller.log",
                                        {std::string("--feature-gates=") + kGates});
  }
  const json::Value train = a.api().Create(groups, Group(version, "train"));
  for (int i = 0; i < 4; ++i) {
    CHECK(a.Post("pods", Member("train-" + std::to_string(i), "train")).Text() == "201 : ");
  }
  const json::Value shared = ClaimOf(train);
  if (controller == nullptr) CHECK(create(claims, shared).Text() == "201 : ");
  const Quantities once = {{kDevices, "3"}, {kClaimCount, "1"}, {"pods", "4"}};
  s.WaitUsed("q", once, 60s);
  const auto counted_again = [&] { return s.Used("q") == once ? "" : "counted again"; };
  Always("no pod counts the claim again", counted_again, 2s);
  const json::Value stored = a.api().Get(claims);
  REQUIRE(stored.ArrayAt({"items"}).size() == 1);
  // As kube-controller-manager created it, if it is here.
  const json::Value& claim = stored.ArrayAt({"items"}).front();
  for (const char* field : {"generateName", "ownerReferences", "annotations"}) {
    INFO(field);
    CHECK(*claim.At({"metadata", field}) == *shared.At({"metadata", field}));
  }

  // The claim of a second group needs its devices, and does not fit.
  const json::Value second = a.api().Create(groups, Group(version, "second"));
  const Attempt refused = create(claims, ClaimOf(second));
  const std::string name = kDevices;
  CHECK_THAT(refused.message, Catch::EndsWith("exceeded quota: q, requested: " + name +
                                              "=3, used: " + name + "=3, limited: " + name + "=5"));
  CHECK(a.Post("pods", Member("second-0", "second")).Text() == "201 : ");
  s.WaitUsed("q", {{kDevices, "3"}, {kClaimCount, "1"}, {"pods", "5"}});

  const auto check = [&](int pods) {
    json::Value job = Json(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},
        "spec":{"template":{"metadata":{}}}})");
    job.Make({"spec", "parallelism"}) = pods;
    job.Make({"spec", "template", "spec"}) = *Member("", "second").At({"spec"});
    job.Make({"spec", "template", "spec", "restartPolicy"}) = "Never";
    return AskPlugin(server->Kubeconfig(),
                     {"check", "-n", s.ns(), "-f", dir.Write("job.json", json::Write(job))});
  };
  CHECK(check(2).exit_code == 0);
  const auto more = check(3);
  CHECK(more.exit_code == 1);
  CHECK_THAT(more.output, Catch::Contains("note: podgroup.scheduling.k8s.io/second: minCount is 4, "
                                          "but only 2 of its 3 new pods fit and 1 pod exists: "));
}

}  // namespace e2e::pod_groups_test
