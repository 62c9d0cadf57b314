// The charges of pods from creation to end (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go). A daemon that starts afterwards must count the same.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/story.h"

namespace e2e::pod_evaluator_test {
namespace {

// {"name":…,"image":…,"resources":{"requests":{…},"limits":{…}}}; `more` begins with a comma.
std::string Container(const std::string& name, const std::string& requests,
                      const std::string& limits, const std::string& more = "") {
  return R"({"name":")" + name +
         R"(","image":"registry.invalid/none:1","resources":{"requests":{)" + requests +
         R"(},"limits":{)" + limits + "}}" + more + "}";
}

std::string PodWith(const std::string& name, const std::string& containers,
                    const std::string& more = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[)" + containers + "]" + more + "}}";
}

const std::vector<std::string> kPodNames{"pods",
                                         "count/pods",
                                         "cpu",
                                         "requests.cpu",
                                         "limits.cpu",
                                         "memory",
                                         "requests.memory",
                                         "limits.memory",
                                         "ephemeral-storage",
                                         "requests.ephemeral-storage",
                                         "limits.ephemeral-storage",
                                         "hugepages-2Mi",
                                         "requests.hugepages-2Mi",
                                         "requests.example.com/dongle"};

// Every name that the steps below change, at zero.
const std::string kNothing =
    "pods=0,count/pods=0,cpu=0,requests.cpu=0,limits.cpu=0,memory=0,requests.memory=0,"
    "limits.memory=0,ephemeral-storage=0,requests.ephemeral-storage=0,limits.ephemeral-storage=0,"
    "hugepages-2Mi=0,requests.hugepages-2Mi=0,requests.example.com/dongle=0";

// Creates a pod, checks its usage, and deletes it.
std::vector<Step> Visit(const std::string& pod, const std::string& used) {
  return {{"POST pods", pod, "pods=1,count/pods=1," + used}, {"DELETE pods/a", "", kNothing}};
}

std::string StatusOfMain(const std::string& cpu) {
  return R"({"status":{"containerStatuses":[{"name":"main","image":"i","imageID":"i",
      "ready":false,"restartCount":0,"allocatedResources":{"cpu":")" +
         cpu + R"("},"resources":{"requests":{"cpu":")" + cpu + R"("}}}]}})";
}

std::string ResizeOfMain(const std::string& cpu) {
  return R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":")" + cpu +
         R"("}}}]}})";
}

std::string StatusOfPod(const std::string& cpu) {
  return R"({"status":{"allocatedResources":{"cpu":")" + cpu +
         R"("},"resources":{"requests":{"cpu":")" + cpu + R"("}}}})";
}

std::string ResizeOfPod(const std::string& cpu) {
  return R"({"spec":{"resources":{"requests":{"cpu":")" + cpu + R"("}}}})";
}

}  // namespace

TEST_CASE("every form of a pod is charged as upstream charges it", "[e2e][evaluators][server]") {
  Scenario s;
  Story story(s, kPodNames);
  s.StartDaemon();
  // Missing requests default to the limits.
  story.Play(Visit(PodWith("a", Container("main", "", R"("cpu":"200m","memory":"100Mi")")),
                   "cpu=200m,requests.cpu=200m,limits.cpu=200m,memory=100Mi,"
                   "requests.memory=100Mi,limits.memory=100Mi"));
  // Init containers run in turn, so the largest counts, but never less than the sum of containers.
  const std::string dongles = R"("example.com/dongle":)";
  story.Play(
      Visit(PodWith("a",
                    Container("c1", R"("cpu":1,"memory":"50M",)" + dongles + "1",
                              R"("cpu":2,"memory":"100M",)" + dongles + "1") +
                        "," +
                        Container("c2", R"("cpu":2,"memory":"25M",)" + dongles + "2",
                                  R"("cpu":5,"memory":"50M",)" + dongles + "2"),
                    R"(,"initContainers":[)" +
                        Container("i1", R"("cpu":4,"memory":"100M",)" + dongles + "4",
                                  R"("cpu":8,"memory":"200M",)" + dongles + "4") +
                        "," +
                        Container("i2", R"("cpu":1,"memory":"50M",)" + dongles + "2",
                                  R"("cpu":2,"memory":"100M",)" + dongles + "2") +
                        "]"),
            "cpu=4,requests.cpu=4,limits.cpu=8,memory=100M,requests.memory=100M,limits.memory=200M,"
            "requests.example.com/dongle=4"));
  // A sidecar runs beside all later containers.
  story.Play(Visit(PodWith("a", Container("main", R"("cpu":"200m","memory":"32Mi")", ""),
                           R"(,"initContainers":[)" +
                               Container("side", R"("cpu":"100m","memory":"64Mi")", "",
                                         R"(,"restartPolicy":"Always")") +
                               "," + Container("setup", R"("cpu":1)", "") + "]"),
                   "cpu=1100m,requests.cpu=1100m,memory=96Mi,requests.memory=96Mi"));
  story.Play(Visit(PodWith("a", Container("main", R"("cpu":"100m","hugepages-2Mi":"100Mi")",
                                          R"("hugepages-2Mi":"100Mi")")),
                   "cpu=100m,requests.cpu=100m,hugepages-2Mi=100Mi,requests.hugepages-2Mi=100Mi"));
}

TEST_CASE("pod-level resources replace the sum of the containers for their names only",
          "[e2e][evaluators][since-1.34][server]") {
  Scenario s;
  Story story(s, kPodNames);
  s.StartDaemon();
  story.Play(Visit(
      PodWith("a",
              Container("main", R"("ephemeral-storage":"1Gi")", R"("ephemeral-storage":"2Gi")"),
              R"(,"resources":{"requests":{"cpu":"1m","memory":"64Mi"},
                        "limits":{"cpu":"2m","memory":"64Mi"}})"),
      "cpu=1m,requests.cpu=1m,limits.cpu=2m,memory=64Mi,requests.memory=64Mi,"
      "limits.memory=64Mi,ephemeral-storage=1Gi,requests.ephemeral-storage=1Gi,"
      "limits.ephemeral-storage=2Gi"));
}

TEST_CASE("the overhead of a runtime class is charged", "[e2e][evaluators][server]") {
  Scenario s;
  Story story(s, kPodNames);
  const auto runtime = FreshName("sandboxed");
  auto runtime_class = Json(R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","handler":"x",
      "overhead":{"podFixed":{"cpu":"250m","memory":"120Mi"}}})");
  runtime_class.Make({"metadata", "name"}) = runtime;
  s.api().Create(PathOf("runtimeclasses"), runtime_class);
  s.StartDaemon();
  // The overhead is always added to requests, and to limits only if there is one.
  story.Play(Visit(PodWith("a", Container("main", R"("cpu":"100m")", R"("cpu":"500m")"),
                           R"(,"overhead":{"cpu":"250m","memory":"120Mi"},"runtimeClassName":")" +
                               runtime + "\""),
                   "cpu=350m,requests.cpu=350m,limits.cpu=750m,memory=120Mi,"
                   "requests.memory=120Mi"));
  s.api().Delete(PathOf("runtimeclasses", "", runtime));
}

TEST_CASE("a resized pod is charged for wanted and actual resources until it ends",
          "[e2e][evaluators][since-1.33][server]") {
  Scenario s;
  Story story(s, {"pods", "count/pods", "cpu", "requests.cpu"});
  s.StartDaemon();
  story.Play({
      {"POST pods", PodWith("a", Container("main", R"("cpu":"100m")", "")),
       "pods=1,count/pods=1,cpu=100m,requests.cpu=100m"},
      {"PATCH pods/a/resize", ResizeOfMain("200m"), "cpu=200m,requests.cpu=200m"},
      {"PATCH pods/a/status", StatusOfMain("300m"), "cpu=300m,requests.cpu=300m"},
      {"PATCH pods/a/resize", ResizeOfMain("50m"), ""},  // still allocated
      {"PATCH pods/a/status", StatusOfMain("50m"), "cpu=50m,requests.cpu=50m"},
      {"POST pods", PodWith("b", Container("main", R"("cpu":"1")", "")),
       "pods=2,count/pods=2,cpu=1050m,requests.cpu=1050m"},
      {"PATCH pods/b/status", R"({"status":{"phase":"Succeeded"}})",
       "pods=1,cpu=50m,requests.cpu=50m"},
      {"PATCH pods/a/status", R"({"status":{"phase":"Failed"}})", "pods=0,cpu=0,requests.cpu=0"},
  });

  // While no daemon counts: an ended pod is deleted, another ends, a third is created.
  s.StopDaemon();
  story.Do({"DELETE pods/b", "", "count/pods=1"});
  story.Do({"POST pods", PodWith("c", Container("main", R"("cpu":"2")", "")), ""});
  story.Do({"PATCH pods/c/status", R"({"status":{"phase":"Succeeded"}})", "count/pods=2"});
  story.Do({"POST pods", PodWith("d", Container("main", R"("cpu":"1500m")", "")),
            "pods=1,count/pods=3,cpu=1500m,requests.cpu=1500m"});
  s.StartDaemon();
  story.WaitCounted();
  story.Play({"DELETE pods/d", "", "pods=0,count/pods=2,cpu=0,requests.cpu=0"});
}

TEST_CASE("what a pod as a whole gives up is charged until its node has taken it back",
          "[e2e][evaluators][since-1.36][server]") {
  Scenario s;
  Story story(s, {"pods", "count/pods", "cpu", "requests.cpu"});
  s.StartDaemon();
  story.Play({
      {"POST pods",
       PodWith("a", Container("main", "", ""), R"(,"resources":{"requests":{"cpu":"200m"}})"),
       "pods=1,count/pods=1,cpu=200m,requests.cpu=200m"},
      {"PATCH pods/a/status", StatusOfPod("200m"), ""},
      {"PATCH pods/a/resize", ResizeOfPod("100m"), ""},
      {"PATCH pods/a/status", StatusOfPod("100m"), "cpu=100m,requests.cpu=100m"},
      {"PATCH pods/a/resize", ResizeOfPod("300m"), "cpu=300m,requests.cpu=300m"},
      {"DELETE pods/a", "", "pods=0,count/pods=0,cpu=0,requests.cpu=0"},
  });
}

}  // namespace e2e::pod_evaluator_test
