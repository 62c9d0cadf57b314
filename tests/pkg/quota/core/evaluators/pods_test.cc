// Fixtures of kubernetes v1.36.3, pkg/quota/v1/evaluator/core/pods_test.go, and a test for each
// rule of pods.go (scopes: ../pod_scopes_test.cc).

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "pkg/api/time.h"
#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/guard_testing.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::pods {

Evaluator MakeEvaluator();

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const base::WallTime kNow = *api::ParseTime("2024-05-01T10:01:00Z");

constexpr Rules kUpTo136 = RulesOf({1, 36});
constexpr Rules kFrom137 = RulesOf({1, 37});

ObjectFacts FactsOf(std::string_view pod, base::WallTime now = kNow, Rules rules = kUpTo136) {
  const auto facts = MakeEvaluator().facts_of(Json(pod), {.now = now, .rules = rules});
  INFO((facts ? std::string() : facts.error().message));
  REQUIRE(facts.has_value());
  return *facts;
}

std::string UsageOf(std::string_view pod) { return FactsOf(pod).now.usage.ToString(); }

std::string ErrorOf(std::string_view pod) {
  const auto facts = MakeEvaluator().facts_of(Json(pod), {kNow});
  if (facts) return "no error";
  CHECK(facts.error().code == base::ErrorCode::kMalformed);
  return facts.error().message;
}

struct Row {
  std::string name;
  std::string pod;
  std::string usage;
};

const std::vector<Row> kRows = {
    {"no requests", R"({"spec":{"containers":[{"name":"a"}]}})", "count/pods=1,pods=1"},
    {"requests count twice, limits once",
     R"({"spec":{"containers":[{"name":"a","resources":{
          "requests":{"cpu":"1","memory":"50M","ephemeral-storage":"1Gi"},
          "limits":{"cpu":"2","memory":"100M","ephemeral-storage":"2Gi"}}}]}})",
     "count/pods=1,cpu=1,ephemeral-storage=1Gi,limits.cpu=2,limits.ephemeral-storage=2Gi,"
     "limits.memory=100M,memory=50M,pods=1,requests.cpu=1,requests.ephemeral-storage=1Gi,"
     "requests.memory=50M"},
    {"a container without a limit adds none",
     R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"2"}}},{"name":"b"}]}})",
     "count/pods=1,limits.cpu=2,pods=1"},
    {"an init container that needs more than all containers",
     R"({"spec":{
          "initContainers":[
            {"name":"i","resources":{"requests":{"cpu":"4","memory":"100M","x.io/dongle":"4"},
                                     "limits":{"cpu":"8","memory":"200M","x.io/dongle":"4"}}},
            {"name":"j","resources":{"requests":{"cpu":"1","memory":"50M","x.io/dongle":"2"},
                                     "limits":{"cpu":"2","memory":"100M","x.io/dongle":"2"}}}],
          "containers":[
            {"name":"a","resources":{"requests":{"cpu":"1","memory":"50M","x.io/dongle":"1"},
                                     "limits":{"cpu":"2","memory":"100M","x.io/dongle":"1"}}},
            {"name":"b","resources":{"requests":{"cpu":"2","memory":"25M","x.io/dongle":"2"},
                                     "limits":{"cpu":"5","memory":"50M","x.io/dongle":"2"}}}]}})",
     "count/pods=1,cpu=4,limits.cpu=8,limits.memory=200M,memory=100M,pods=1,requests.cpu=4,"
     "requests.memory=100M,requests.x.io/dongle=4"},
    {"sidecars run beside the containers and beside later init containers",
     R"({"spec":{
          "initContainers":[
            {"name":"i","resources":{"requests":{"cpu":"5"}}},
            {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
            {"name":"j","resources":{"requests":{"cpu":"4"}}},
            {"name":"t","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})",
     "count/pods=1,cpu=6,pods=1,requests.cpu=6"},
    {"the sum of containers and sidecars, if that is larger",
     R"({"spec":{
          "initContainers":[
            {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"3"}}}]}})",
     "count/pods=1,cpu=5,pods=1,requests.cpu=5"},
    {"the sum of an init container and earlier sidecars has the init container's notation",
     R"({"spec":{"initContainers":[
            {"name":"s","restartPolicy":"Always","resources":{"requests":{"memory":"1Gi"}}},
            {"name":"i","resources":{"requests":{"memory":"1024"}}}]}})",
     "count/pods=1,memory=1073742848,pods=1,requests.memory=1073742848"},
    {"each resource has its own peak",
     R"({"spec":{
          "initContainers":[{"name":"i","resources":{"requests":{"cpu":"3","memory":"10Mi"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"50Mi"}}}]}})",
     "count/pods=1,cpu=3,memory=50Mi,pods=1,requests.cpu=3,requests.memory=50Mi"},
    {"overhead adds to a peak of init containers, too, but not to a limit of zero",
     R"({"spec":{"overhead":{"cpu":"100m","x.io/y":"1"},
          "initContainers":[{"name":"i","resources":{"requests":{"cpu":"3"},
                                                     "limits":{"cpu":"0"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})",
     "count/pods=1,cpu=3100m,limits.cpu=0,pods=1,requests.cpu=3100m,requests.x.io/y=1"},
    {"overhead adds to requests, and to existing limits",
     R"({"spec":{"overhead":{"cpu":"1","memory":"10Mi"},
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1"},
                                                 "limits":{"cpu":"2"}}}]}})",
     "count/pods=1,cpu=2,limits.cpu=3,memory=10Mi,pods=1,requests.cpu=2,requests.memory=10Mi"},
    {"resources of the pod replace the sum of its containers",
     R"({"spec":{"resources":{"requests":{"cpu":"1m","hugepages-2Mi":"4Mi"},"limits":{"cpu":"2m"}},
          "containers":[{"name":"a","resources":{"requests":{"cpu":"3","hugepages-2Mi":"8Mi"},
                                                 "limits":{"cpu":"4"}}}]}})",
     "count/pods=1,cpu=1m,hugepages-2Mi=4Mi,limits.cpu=2m,pods=1,requests.cpu=1m,"
     "requests.hugepages-2Mi=4Mi"},
    {"names that the pod omits, or that pods cannot specify, are not replaced",
     R"({"spec":{"resources":{"requests":{"memory":"1Gi","ephemeral-storage":"9Gi"}},
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"2Gi",
                                                             "ephemeral-storage":"500Mi"}}}]}})",
     "count/pods=1,cpu=1,ephemeral-storage=500Mi,memory=1Gi,pods=1,requests.cpu=1,"
     "requests.ephemeral-storage=500Mi,requests.memory=1Gi"},
    {"requests of the pod leave the limits of its containers, and overhead adds to both",
     R"({"spec":{"resources":{"requests":{"cpu":"2"}},"overhead":{"cpu":"1"},
          "containers":[{"name":"a","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"4"}}}]}})",
     "count/pods=1,cpu=3,limits.cpu=5,pods=1,requests.cpu=3"},
    {"what the node reports of a pod without resources of its own does not count",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
         "status":{"resources":{"requests":{"cpu":"5"},"limits":{"cpu":"6"}},
                   "allocatedResources":{"cpu":"7"}}})",
     "count/pods=1,cpu=1,pods=1,requests.cpu=1"},
    {"hugepages count under both names, their limits under none",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"hugepages-2Mi":"100Mi"},
                                                        "limits":{"hugepages-2Mi":"100Mi"}}}]}})",
     "count/pods=1,hugepages-2Mi=100Mi,pods=1,requests.hugepages-2Mi=100Mi"},
    {"extended resources and device classes count as requests only, unknown ones do not count",
     R"({"spec":{"containers":[{"name":"a","resources":{
          "requests":{"example.com/gpu":"2","deviceclass.resource.kubernetes.io/c":"1",
                      "other.kubernetes.io/x":"3","storage":"5"},
          "limits":{"example.com/gpu":"2"}}}]}})",
     "count/pods=1,pods=1,requests.deviceclass.resource.kubernetes.io/c=1,"
     "requests.example.com/gpu=2"},
    {"what looks like a quota's name in a container is no resource",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{
          "requests.example.com/x":"1","pods":"7","services":"1","limits.cpu":"1"}}}]}})",
     "count/pods=1,pods=1"},
    {"an explicit zero is present",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"0"}}}]}})",
     "count/pods=1,cpu=0,pods=1,requests.cpu=0"},
    {"numbers are quantities",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":0.5}}}]}})",
     "count/pods=1,cpu=500m,pods=1,requests.cpu=500m"},
    {"a finished pod is an object only: succeeded",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
         "status":{"phase":"Succeeded"}})",
     "count/pods=1"},
    {"a finished pod is an object only: failed", R"({"status":{"phase":"Failed"}})",
     "count/pods=1"},
    {"a pod of an unknown phase counts fully", R"({"status":{"phase":"Unknown"}})",
     "count/pods=1,pods=1"},
    {"a pending pod counts fully", R"({"status":{"phase":"Pending"}})", "count/pods=1,pods=1"},
};

TEST_CASE("pods: usage is the sum over the containers", "[quota][core]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    CHECK(UsageOf(row.pod) == row.usage);
  }
}

// One container "a" and one sidecar "s" of 100m and limit 200m each, with this status.
std::string Resized(const std::string& status) {
  return R"({"spec":{
      "containers":[{"name":"a","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}}],
      "initContainers":[{"name":"s","restartPolicy":"Always",
        "resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}}]},"status":)" +
         status + "}";
}

struct ResizeRow {
  std::string name;
  std::string pod;
  std::string up_to_136;
  std::string from_137;
};

// Two containers and their statuses.
std::string Swapping(const std::string& statuses, const std::string& conditions = "") {
  return R"({"spec":{"containers":[
      {"name":"a","resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"200m"}}},
      {"name":"b","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"100m"}}}]},
    "status":{"conditions":[)" +
         conditions + R"(],"containerStatuses":[)" + statuses + "]}}";
}

// An init container of 4, and a container of 1.
std::string Starting(const std::string& init, const std::string& conditions = "") {
  return R"({"spec":{"initContainers":[{"name":"i",
               "resources":{"requests":{"cpu":"4"},"limits":{"cpu":"4"}}}],
             "containers":[{"name":"a",
               "resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]},
           "status":{"conditions":[)" +
         conditions + R"(],"initContainerStatuses":[)" + init + "]}}";
}

const std::string kInfeasible = R"({"type":"PodResizePending","reason":"Infeasible"})";
const std::string kDeferred = R"({"type":"PodResizePending","reason":"Deferred"})";

// Computed with both versions of upstream's helpers; tests/differential compares many more.
const std::vector<ResizeRow> kResizes = {
    {"nothing reported", Resized("{}"), "200m of 400m", "200m of 400m"},
    {"a shrinking container", Resized(R"({"containerStatuses":[{"name":"a","resources":{
         "requests":{"cpu":"150m"},"limits":{"cpu":"250m"}}}]})"),
     "250m of 450m", "250m of 450m"},
    {"a growing container", Resized(R"({"containerStatuses":[{"name":"a","resources":{
         "requests":{"cpu":"50m"},"limits":{"cpu":"50m"}}}]})"),
     "200m of 400m", "200m of 400m"},
    {"allocated, not yet actual", Resized(R"({"containerStatuses":[{"name":"a","resources":{},
         "allocatedResources":{"cpu":"300m"}}]})"),
     "400m of 400m", "400m of 400m"},
    {"allocated, and nothing said about the actual amount: since 1.37 it counts",
     Resized(R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"300m"}}]})"),
     "200m of 400m", "400m of 400m"},
    {"a sidecar", Resized(R"({"initContainerStatuses":[{"name":"s","resources":{
         "requests":{"cpu":"150m"}}}]})"),
     "250m of 400m", "250m of 400m"},
    {"one container grows by what another one gives back: since 1.37 the pod stays the same",
     Swapping(R"({"name":"a","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"100m"}}},
                 {"name":"b","resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"200m"}}},
                 {"name":"gone","resources":{"requests":{"cpu":"9"},"limits":{"cpu":"9"}}})"),
     "400m of 400m", "300m of 300m"},
    {"allocated and actual amounts differ: the larger one of three sums",
     Swapping(R"({"name":"a","resources":{"requests":{"cpu":"50m"}},
                  "allocatedResources":{"cpu":"300m"}},
                 {"name":"b","resources":{"requests":{"cpu":"260m"}},
                  "allocatedResources":{"cpu":"50m"}})"),
     "560m of 300m", "350m of 300m"},
    {"refused: what the node reports",
     Resized(R"({"conditions":[)" + kInfeasible +
             R"(],"containerStatuses":[{"name":"a","resources":{
         "requests":{"cpu":"50m"},"limits":{"cpu":"60m"}},
         "allocatedResources":{"cpu":"70m"}}]})"),
     "170m of 260m", "70m of 60m"},
    {"refused, and one container is not reported: since 1.37 it counts nothing",
     Swapping(R"({"name":"b","resources":{"requests":{"cpu":"80m"},"limits":{"cpu":"80m"}}})",
              kInfeasible),
     "280m of 280m", "80m of 80m"},
    {"refused, and nothing is reported", Swapping("", kInfeasible), "300m of 300m", "0 of 0"},
    {"deferred: the wanted amounts count",
     Resized(R"({"conditions":[)" + kDeferred +
             R"(],"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"50m"}}}]})"),
     "200m of 400m", "200m of 400m"},
    {"only the first condition of this type counts",
     Resized(R"({"conditions":[{"type":"PodResizeInProgress","reason":"Infeasible"},)" + kDeferred +
             "," + kInfeasible +
             R"(],"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"50m"}}}]})"),
     "200m of 400m", "200m of 400m"},
    {"a shrinking init container: since 1.37 it counts until the node has taken the amount back",
     Starting(R"({"name":"i","resources":{"requests":{"cpu":"9"},"limits":{"cpu":"8"}}})"),
     "4 of 4", "9 of 8"},
    {"a growing init container", Starting(R"({"name":"i","resources":{"requests":{"cpu":"2"}}})"),
     "4 of 4", "4 of 4"},
    {"a refused init container",
     Starting(R"({"name":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"3"}}})",
              kInfeasible),
     "4 of 4", "2 of 3"},
};

std::string CpuOf(const std::string& pod, Rules rules = kUpTo136) {
  const ResourceList usage = FactsOf(pod, kNow, rules).now.usage;
  return usage.Get("cpu").ToString() + " of " + usage.Get("limits.cpu").ToString();
}

TEST_CASE("pods: a resized pod counts as the version of Kubernetes counts it", "[quota][core]") {
  for (const ResizeRow& row : kResizes) {
    INFO(row.name);
    CHECK(CpuOf(row.pod, kUpTo136) == row.up_to_136);
    CHECK(CpuOf(row.pod, kFrom137) == row.from_137);
  }
}

// A pod whose own request of 2 and limit of 4 were lowered to 1 and 2.
std::string Shrunk(const std::string& status) {
  return R"({"spec":{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}},
                     "containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}]},
             "status":{)" +
         status + "}}";
}

TEST_CASE("pods: what a pod as a whole gives up is free once its node has taken it back",
          "[quota][core]") {
  const std::string actual = R"("resources":{"requests":{"cpu":"2"},"limits":{"cpu":"4"}})";
  const std::string taken_back = R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}})";
  for (const Rules rules : {kUpTo136, kFrom137}) {
    CHECK(CpuOf(Shrunk(""), rules) == "1 of 2");  // the node does not report it
    CHECK(CpuOf(Shrunk(R"("allocatedResources":{"cpu":"2"})"), rules) == "1 of 2");
    CHECK(CpuOf(Shrunk(actual + R"(,"allocatedResources":{"cpu":"2"})"), rules) == "2 of 4");
    CHECK(CpuOf(Shrunk(actual), rules) == "2 of 4");
    CHECK(CpuOf(Shrunk(actual + R"(,"allocatedResources":{"cpu":"3"})"), rules) == "3 of 4");
    CHECK(CpuOf(Shrunk(taken_back + R"(,"allocatedResources":{"cpu":"2"})"), rules) == "2 of 2");
    CHECK(CpuOf(Shrunk(taken_back + R"(,"allocatedResources":{"cpu":"1"})"), rules) == "1 of 2");
    CHECK(CpuOf(Shrunk(R"("resources":{})"), rules) == "1 of 2");
  }
}

TEST_CASE("pods: what a node will never give to a pod as a whole does not count", "[quota][core]") {
  const std::string status = std::string(R"("conditions":[)") + kInfeasible +
                             R"(],"resources":{"requests":{"cpu":"250m"},"limits":{"cpu":"750m"}},
         "allocatedResources":{"cpu":"300m"})";
  for (const Rules rules : {kUpTo136, kFrom137}) {
    CHECK(CpuOf(Shrunk(status), rules) == "300m of 750m");
  }
}

TEST_CASE("pods: the notation of equal amounts is the wanted one's, then the actual one's",
          "[quota][core]") {
  const auto memory = [](const std::string& conditions, Rules rules) {
    const ObjectFacts facts =
        FactsOf(R"({"spec":{"containers":[{"name":"a","resources":{
                      "requests":{"memory":"2048"}}}]},
                    "status":{"conditions":[)" +
                    conditions + R"(],"containerStatuses":[{"name":"a","resources":{
                      "requests":{"memory":"2Ki"}},
                      "allocatedResources":{"memory":"2048e0"}}]}})",
                kNow, rules);
    return facts.now.usage.Get("memory").ToString();
  };
  for (const Rules rules : {kUpTo136, kFrom137}) {
    CHECK(memory("", rules) == "2048");
    CHECK(memory(kInfeasible, rules) == "2Ki");
  }
}

TEST_CASE("pods: a pod in deletion is free after twice its grace period", "[quota][core]") {
  // Deleted at 09:59:30 with 30 s of grace: the timestamp is 10:00:00, its end 10:00:30. The
  // removal itself may take two more seconds.
  constexpr std::string_view kPod = R"({"metadata":{"deletionTimestamp":"2024-05-01T10:00:00Z",
      "deletionGracePeriodSeconds":30}})";
  const base::WallTime deleted = *api::ParseTime("2024-05-01T10:00:00Z");

  const ObjectFacts boundary = FactsOf(kPod, deleted + seconds(32));
  CHECK(boundary.now.usage.ToString() == "count/pods=1,pods=1");
  REQUIRE(boundary.later.has_value());
  CHECK(boundary.later->at > deleted + seconds(32));
  CHECK(boundary.later->at < deleted + seconds(33));
  CHECK(boundary.later->facts.usage.ToString() == "count/pods=1");
  CHECK(boundary.later->facts.attributes == boundary.now.attributes);

  // At the announced time the evaluator itself gives the announced facts.
  const ObjectFacts after = FactsOf(kPod, boundary.later->at);
  CHECK(after.now == boundary.later->facts);
  CHECK_FALSE(after.later.has_value());
}

TEST_CASE("pods: a pod deleted without grace counts while the API server removes it",
          "[quota][core]") {
  constexpr std::string_view kPod = R"({"metadata":{"deletionTimestamp":"2024-05-01T10:00:00Z",
      "deletionGracePeriodSeconds":0}})";
  const base::WallTime second = *api::ParseTime("2024-05-01T10:00:00Z");
  CHECK(FactsOf(kPod, second + milliseconds(999)).now.usage.ToString() == "count/pods=1,pods=1");
  CHECK(FactsOf(kPod, second + seconds(3)).now.usage.ToString() == "count/pods=1");
}

TEST_CASE("pods: a deletion without a valid time and grace period frees nothing", "[quota][core]") {
  for (const char* metadata :
       {R"({"deletionTimestamp":"2020-01-01T00:00:00Z"})", R"({"deletionGracePeriodSeconds":0})",
        R"({"deletionTimestamp":"9999-01-01T00:00:00Z","deletionGracePeriodSeconds":30})",
        R"({"deletionTimestamp":"2261-12-31T00:00:00Z","deletionGracePeriodSeconds":3153600000})",
        R"({"deletionTimestamp":"2020-01-01T00:00:00Z",
            "deletionGracePeriodSeconds":9223372036854775807})"}) {
    INFO(metadata);
    const ObjectFacts facts = FactsOf(R"({"metadata":)" + std::string(metadata) + "}");
    CHECK(facts.now.usage.ToString() == "count/pods=1,pods=1");
    CHECK_FALSE(facts.later.has_value());
  }
}

TEST_CASE("pods: the error for an invalid pod names the field", "[quota][core]") {
  CHECK(ErrorOf(R"({"spec":{"initContainers":[{"resources":{"limits":[]}}]}})") ==
        "spec.initContainers[0].resources.limits: must be an object, not array");
  CHECK(ErrorOf(R"({"spec":{"overhead":7}})") == "spec.overhead: must be an object, not number");
  CHECK(ErrorOf(R"({"status":{"containerStatuses":[{"name":"a",
            "resources":{"requests":""}}]}})") ==
        "status.containerStatuses[0].resources.requests: must be an object, not string");
  CHECK(ErrorOf(R"({"spec":{"activeDeadlineSeconds":"5"}})") ==
        "spec.activeDeadlineSeconds: must be an integer");
}

TEST_CASE("pods: an amount that cannot be read makes only its names unknown", "[quota][core]") {
  struct UnreadRow {
    std::string pod;
    std::string flaw;  // its begin
    std::vector<std::string> unread;
    std::string usage;
  };
  const std::vector<UnreadRow> rows = {
      {R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"5"}}},
                                 {"resources":{"requests":{"cpu":"1x","memory":"6"}}}]}})",
       "spec.containers[1].resources.requests[cpu]: quantities must match",
       {"cpu", "requests.cpu"},
       "count/pods=1,cpu=1,memory=11,pods=1,requests.cpu=1,requests.memory=11"},
      {R"({"spec":{"initContainers":[{"resources":{"limits":{"cpu":[],"example.com/a":[]}}}]}})",
       "spec.initContainers[0].resources.limits[cpu]: must be a quantity, not array",
       {"limits.cpu"},
       "count/pods=1,pods=1"},
      {R"({"spec":{"overhead":{"cpu":{}}}})",
       "spec.overhead[cpu]: must be a quantity, not object",
       {"cpu", "limits.cpu", "requests.cpu"},
       "count/pods=1,pods=1"},
      {R"({"status":{"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":""}}}]}})",
       "status.containerStatuses[0].resources.requests[cpu]: quantities",
       {"cpu", "requests.cpu"},
       "count/pods=1,pods=1"},
      {R"({"status":{"containerStatuses":[
            {"name":"a","resources":{},"allocatedResources":{"example.com/gpu":true}}]}})",
       "status.containerStatuses[0].allocatedResources[example.com/gpu]: must be",
       {"requests.example.com/gpu"},
       "count/pods=1,pods=1"},
      // What the pod requests as a whole counts instead.
      {R"({"spec":{"resources":{"requests":{"cpu":"3"}},
                   "containers":[{"resources":{"requests":{"cpu":"x","memory":"y"}}}]}})",
       "spec.containers[0].resources.requests[cpu]: ",
       {"memory", "requests.memory"},
       "count/pods=1,cpu=3,pods=1,requests.cpu=3"},
      {R"({"status":{"phase":"Failed"},
           "spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}})",
       "",
       {},
       "count/pods=1"},
  };
  for (const UnreadRow& row : rows) {
    INFO(row.pod);
    const ObjectFacts facts = FactsOf(row.pod);
    CHECK(facts.flaw.starts_with(row.flaw));
    CHECK(facts.flaw.empty() == row.flaw.empty());
    CHECK(facts.now.unread == row.unread);
    CHECK(facts.now.usage.ToString() == row.usage);
  }
  // The amount may be positive.
  const ObjectFacts facts = FactsOf(rows[1].pod);
  CHECK(facts.now.attributes.front() == Attribute{"NotBestEffort", ""});
}

TEST_CASE("pods: amounts beyond every number count as the most there is", "[quota][core]") {
  const ObjectFacts facts = FactsOf(R"({"spec":{"containers":[
      {"resources":{"requests":{"cpu":"1e29","memory":"1e40"}}},
      {"resources":{"requests":{"cpu":"1e29"}}}]}})");
  CHECK(facts.now.usage.Get("cpu").IsSaturated());
  CHECK(facts.now.usage.Get("requests.memory").ToString() == "1e30");
  CHECK(facts.now.usage.Get("pods") == Q("1"));
}

TEST_CASE("pods: the evaluator owns its names", "[quota][core]") {
  const Evaluator evaluator = MakeEvaluator();
  for (const char* name :
       {"pods", "count/pods", "cpu", "limits.ephemeral-storage", "hugepages-1Gi",
        "requests.hugepages-1Gi", "requests.nvidia.com/gpu",
        "requests.deviceclass.resource.kubernetes.io/c", "requests.requests.example.com/gpu"}) {
    INFO(name);
    CHECK(evaluator.owns(name));
  }
  const ResourceList hard = List({{"pods", "1"}, {"services", "1"}, {"limits.cpu", "1"}});
  std::vector<std::string> owned;
  for (const auto& [name, limit] : hard) {
    if (evaluator.owns(name)) owned.push_back(name);
  }
  CHECK(owned == std::vector<std::string>{"limits.cpu", "pods"});
}

const Restated kUpdateCondition = {
    "has(object.spec.activeDeadlineSeconds) != has(oldObject.spec.activeDeadlineSeconds)",
    [](const json::Value& object, const json::Value& old) {
      return (object.At({"spec", "activeDeadlineSeconds"}) == nullptr) !=
             (old.At({"spec", "activeDeadlineSeconds"}) == nullptr);
    }};

// Draws a pod. Its members are those that an update of the pod itself may change.
json::Value DrawPod(Drawer& draw) {
  json::Value pod = Json(R"({"metadata":{},"status":{"qosClass":"Burstable"},
      "spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})");
  draw.Put(pod, {"metadata", "labels"}, {"", R"({"a":"b"})"});
  draw.Put(pod, {"metadata", "finalizers"}, {"", R"(["x.io/y"])"});
  draw.Put(pod, {"spec", "tolerations"}, {"", R"([{"operator":"Exists"}])"});
  draw.Put(pod, {"spec", "activeDeadlineSeconds"}, {"", "1", "60"});
  return pod;
}

TEST_CASE("pods: every update that needs more meets the guard's condition", "[quota][core]") {
  NothingEscapes(MakeEvaluator(), kUpdateCondition, DrawPod);
}

}  // namespace
}  // namespace quota::core::pods
